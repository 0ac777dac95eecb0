/* Moving tasks out of the way: the search of the placer best-fit for a packing
 * that is worth its moves. */
#ifndef POLICY_PLACE_REGROUP_H
#define POLICY_PLACE_REGROUP_H

#include "policy/room.h"

/* A grant that might be better placed: it has changed, or spans several nodes. */
struct candidate {
    uint32_t grant; /* index into the plan's grants */
    units_t want;   /* units before it was placed, which may have lowered it */
};

struct regroup {
    const struct snapshot *s;
    struct plan *plan; /* with every grant placed */
    struct room *room; /* what is free then; kept up to date */
    const struct candidate *list;
    uint32_t n;
    double locality; /* part of its time that a task loses by each node more */
};

/* Looks for a better placement of the pool's candidates and puts it into the
 * plan if it brings more than its moves cost. False when the plan is as it was. */
bool regroup_pool(const struct regroup *r, unsigned pool);

#endif
