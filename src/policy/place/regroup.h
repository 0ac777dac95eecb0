/* Moving tasks to make room: how the placer best-fit searches for a packing that is worth its
 * moves. */
#ifndef POLICY_PLACE_REGROUP_H
#define POLICY_PLACE_REGROUP_H

#include "policy/room.h"

/* A grant that could be placed better: it has changed, or spans several nodes. */
struct candidate {
    uint32_t grant; /* index into the plan's grants */
    units_t want;   /* units before placing, which may have lowered them */
};

struct regroup {
    const struct snapshot *s;
    struct plan *plan; /* in which every grant is placed */
    struct room *room; /* what is free under the plan; kept up to date */
    const struct candidate *list;
    uint32_t n;
    double locality; /* part of its time that a task loses for each further node */
};

/* Searches for a better placement of the pool's candidates, and puts it into the plan if it
 * brings more than its moves cost. False if the plan has not changed. */
bool regroup_pool(const struct regroup *r, unsigned pool);

#endif
