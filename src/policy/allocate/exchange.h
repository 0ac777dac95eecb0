/* Tasks that exchange their pools. An allocator that serves one task after the other gives the
 * first the best pool, although another may gain more from it. */
#ifndef POLICY_ALLOCATE_EXCHANGE_H
#define POLICY_ALLOCATE_EXCHANGE_H

#include "model/plan.h"

/* What it is worth that candidate i has n units of the pool; 0 or less if that cannot be. */
typedef double exchange_value(const void *ctx, uint32_t i, unsigned pool, units_t n);

/* Lets candidates 0..n-1, whose tasks are in `tasks`, exchange their pools in twos, as long as they
 * have as many units and the sum of their values grows. Tasks that need memory, devices or CPUs
 * beside their GPUs, or must fit on one node, stay. */
void exchange_pools(const struct snapshot *s, struct plan *plan, const uint32_t *tasks, uint32_t n,
                    exchange_value *value, const void *ctx);

#endif
