/* What all placers share: keeping what stays, shrinking in place, growing on
 * the nodes that a task has, and splitting over the fewest nodes. A placer adds
 * its choice of a node. */
#ifndef POLICY_PLACE_H
#define POLICY_PLACE_H

#include "policy/room.h"

/* A node with room for n units of the task, or TASK_NONE. */
typedef uint32_t (*place_choose)(struct room *r, const struct task *t, unsigned pool, units_t n,
                                 void *ctx);

/* Places every grant of the plan. A task that cannot be whole where it must is
 * granted what fits, if it can run on that, else nothing. */
void place_grants(struct room *r, struct plan *plan, place_choose choose, void *ctx);

/* The whole work of a placer that leaves running tasks where they are. */
void place_in_place(const struct snapshot *s, struct plan *plan, place_choose choose, void *ctx);

/* Appends a part to a placement made in the arena, joining parts of one node. */
void place_add(struct placement *p, uint32_t *cap, uint32_t node, units_t n, struct arena *a);

#endif
