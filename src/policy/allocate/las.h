/* The queues of least attained service, for the policies that build on them. */
#ifndef POLICY_ALLOCATE_LAS_H
#define POLICY_ALLOCATE_LAS_H

#include "policy/order.h"
#include "policy/params.h"

enum { LAS_THRESHOLDS, LAS_KNOB, LAS_PARAMS };

extern const struct param las_params[];

struct las {
    double threshold[PARAM_LIST_MAX]; /* unit-microseconds, increasing */
    unsigned n;
    double knob;
};

void las_init(struct las *l, const struct params *p);
/* The queue of a job with this service. */
unsigned las_queue(const struct las *l, double service);
/* The queue of a task now, promotion included; asks the plan to be woken when a
 * waiting one is promoted. */
unsigned las_rank(const struct las *l, const struct snapshot *s, uint32_t task, struct plan *plan);
/* After the grants, the keys being queues: asks the plan to be woken when a task
 * that will run reaches its next threshold, or one that is stopped its promotion. */
void las_wake(const struct las *l, const struct snapshot *s, const struct keyed *k,
              struct plan *plan);
/* First start, else submission: the order inside a queue. */
usec_t las_since(const struct task *t);

#endif
