/* The choice of the least loaded node, for placers that start from it. */
#ifndef POLICY_PLACE_SPREAD_H
#define POLICY_PLACE_SPREAD_H

#include "policy/room.h"

uint32_t spread_choose(struct room *r, const struct task *t, unsigned pool, units_t n,
                       bool by_usage);

/* Thousandths of the node's CPUs that its tasks were measured to use. */
double spread_measured(const struct snapshot *s, uint32_t node);

#endif
