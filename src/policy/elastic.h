/* What elastic allocators share: minima in order, then further units. */
#ifndef POLICY_ELASTIC_H
#define POLICY_ELASTIC_H

#include "policy/budget.h"
#include "policy/order.h"

/* Grants each task of the order its minimum, if that is left. */
void elastic_minima(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n);

/* The same to all active tasks, shortest remaining time on one unit first, which becomes
 * the plan's order. Begins the budget. */
void elastic_minima_shortest_first(struct budget *b, const struct snapshot *s, struct plan *plan);

/* Rounds of one more step each in the given order to tasks that have units and
 * can take more, until nothing is left or nobody can. */
void elastic_rounds(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n);

/* What one more step would bring a task that has n units of the pool. */
typedef double (*elastic_gain)(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                               units_t next);

/* Further steps, each to the task with the largest gain per unit; stops at a
 * gain of nothing. Ties go to the task that comes first in the order. */
void elastic_by_gain(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n,
                     elastic_gain gain);

/* S(next) - S(n). */
double elastic_speedup_gain(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                            units_t next);

#endif
