/* Sorting tasks by a key. The sort is stable and adaptive. The snapshot has the order of the
 * last decision, which is nearly that of this one, so sorting takes about one pass. */
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

/* All active tasks in the snapshot's order. Their rank is set by class, their tie to (submit,
 * id). Under another simulator's rules the tie is zero, so that equal keys keep their order. */
struct keyed *order_collect(const struct snapshot *s, struct arena *a);

/* False if they were sorted already. */
bool order_sort(struct keyed *k, uint32_t n, struct arena *a);

/* Makes this the order from now on. */
void order_publish(const struct keyed *k, uint32_t n, struct plan *plan);

/* The active tasks by (class, submit, id); sorts them only if necessary. */
const uint32_t *order_by_submit(const struct snapshot *s, struct plan *plan);

/* The indices of the plan's grants by submission and id. Their own order depends on which
 * task ran when, and must not influence anything. */
const uint32_t *order_grants(const struct snapshot *s, const struct plan *plan);

#endif
