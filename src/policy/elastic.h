/* What elastic allocators have in common: minima in order, then further units. */
#ifndef POLICY_ELASTIC_H
#define POLICY_ELASTIC_H

#include "policy/budget.h"
#include "policy/order.h"

/* Grants each task of the order its minimum, if enough is left. */
void elastic_minima(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n);

/* The same for all active tasks, those with the shortest remaining time on one unit first,
 * which becomes the plan's order. Initialises the budget. */
void elastic_minima_shortest_first(struct budget *b, const struct snapshot *s, struct plan *plan);

/* In rounds, gives one step more to each task of the order that has units and can take more,
 * until nothing is left or no task can. */
void elastic_rounds(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n);

/* What the step to `next` brings a task that has n units of the pool. */
typedef double (*elastic_gain)(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                               units_t next);

/* A change of size, and what it brings per unit. */
struct elastic_step {
    units_t to; /* 0 = no size that is left brings anything */
    double gain;
};

/* The step with the largest gain per unit from what the plan grants the task, to any size for
 * which enough is left. Measured curves have dips: a step along their concave hull passes
 * them, and each size can still be reached with the last free units. */
struct elastic_step elastic_best_step(const struct budget *b, const struct plan *plan,
                                      uint32_t task, elastic_gain gain);

/* Gives further steps, each to the task with the largest gain per unit, ties to the first in
 * the order. Stops when nothing is gained. */
void elastic_by_gain(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n,
                     elastic_gain gain);

/* S(next) - S(n). */
double elastic_speedup_gain(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                            units_t next);

#endif
