/* Sorting tasks by a key. The sort is stable and adaptive: the snapshot keeps
 * the order of the last decision, which is nearly the order of this one, so a
 * decision costs about one pass over the tasks. */
#ifndef POLICY_ORDER_H
#define POLICY_ORDER_H

#include "model/plan.h"

struct keyed {
    int64_t rank; /* lower first */
    double key;   /* then lower first */
    usec_t tie;   /* then earlier first */
    uint32_t id;  /* then lower first */
    uint32_t task;
};

/* All active tasks in the snapshot's order, their rank set by priority and
 * their tie to (submit, id); under another simulator's rules the tie is zero,
 * so that equal keys keep their last order. */
struct keyed *order_collect(const struct snapshot *s, struct arena *a);

/* False when they were in order already. */
bool order_sort(struct keyed *k, uint32_t n, struct arena *a);

/* Tells the plan that this is the order from now on. */
void order_publish(const struct keyed *k, uint32_t n, struct plan *plan);

/* The active tasks by (priority, submit, id), sorted only if they are not. */
const uint32_t *order_by_submit(const struct snapshot *s, struct plan *plan);

/* The indices of the plan's grants by submission and id: their own order follows
 * from who ran when, and shall not decide anything. */
const uint32_t *order_grants(const struct snapshot *s, const struct plan *plan);

#endif
