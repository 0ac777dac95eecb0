/* Choosing one size for each of many jobs so that the sum of their values is
 * largest and the sizes fit: the multiple-choice knapsack, solved exactly. */
#ifndef POLICY_ALLOCATE_KNAPSACK_H
#define POLICY_ALLOCATE_KNAPSACK_H

#include <stdint.h>

#include "base/mem.h"

struct knapsack_option {
    uint32_t size;
    double value; /* > 0 */
};

/* Options of one job in order of size; choosing none (size 0, value 0) is
 * always possible too. */
struct knapsack_job {
    const struct knapsack_option *options;
    uint32_t n;
    uint32_t chosen; /* result: option index + 1, 0 = none */
};

/* Fills `chosen`; of equal sums the one that serves earlier jobs is preferred. */
void knapsack_solve(struct knapsack_job *jobs, uint32_t n, uint32_t capacity, struct arena *a);

#endif
