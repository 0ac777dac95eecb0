/* Allocators that make a sum of powers of the jobs' speedups large: Pollux and Sia. */
#ifndef POLICY_ALLOCATE_POWERS_H
#define POLICY_ALLOCATE_POWERS_H

#include "model/plan.h"
#include "policy/allocate/prices.h"

/* Units with which a job is r times as fast as with its base are worth
 *   none - (scale x r + offset)^exponent
 * to it. A size other than the one that it has counts for less: r is multiplied by the share of the
 * job's life that it would not have stood still, had it been changed once more (Pollux, OSDI'21,
 * section 4.2.1). */
struct powers {
    double exponent; /* below 0 */
    double none;     /* what having nothing costs */
    double scale, offset;
    /* The base is what the job has with an equal share of the units, otherwise its slowest size. */
    bool fair_base;
    /* Sizes are powers of two up to a node, and whole nodes. */
    bool node_sizes;
    /* A job that stands still after a change is not changed. */
    bool settles;
};

/* Grants units so that the sum is nearly the largest; jobs of a higher class go first. */
void powers_allocate(const struct powers *rule, const struct snapshot *s, struct plan *plan);

/* The problem of a decision over all active tasks, solved: to compare with other solvers. */
void powers_problem(const struct powers *rule, const struct snapshot *s, struct arena *a,
                    struct prices *out);

#endif
