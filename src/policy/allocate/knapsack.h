/* Choosing a size for each of many jobs so that the sizes fit and the sum of values is
 * largest: the multiple-choice knapsack, solved exactly. */
#ifndef POLICY_ALLOCATE_KNAPSACK_H
#define POLICY_ALLOCATE_KNAPSACK_H

#include <stdint.h>

#include "base/mem.h"

struct knapsack_option {
    uint32_t size;
    double value; /* > 0 */
};

/* The options of a job in order of size. Choosing none (size 0, value 0) is always possible. */
struct knapsack_job {
    const struct knapsack_option *options;
    uint32_t n;
    uint32_t chosen; /* result: option index + 1, 0 = none */
};

/* Sets `chosen`. Among equal sums, one that serves earlier jobs is preferred. */
void knapsack_solve(struct knapsack_job *jobs, uint32_t n, uint32_t capacity, struct arena *a);

#endif
