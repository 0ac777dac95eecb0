/* How the CPUs of a node are divided among what runs on it, as the kernel does it: by
 * weight, up to each one's limit; what one leaves unused goes to the others. */
#ifndef MODEL_DIVIDE_H
#define MODEL_DIVIDE_H

#include <stdint.h>

struct claim {
    double limit;  /* the most it can use */
    double weight; /* > 0 */
    double got;    /* the result */
};

void divide_cpus(double capacity, struct claim *claims, uint32_t n);

#endif
