/* What all placers have in common: keeping tasks in place, shrinking them there, growing them
 * on their own nodes first, and splitting them over as few nodes as possible. Each placer
 * adds its choice of a node. */
#ifndef POLICY_PLACE_H
#define POLICY_PLACE_H

#include "policy/room.h"

/* A node with room for n units of the task, or TASK_NONE. */
typedef uint32_t (*place_choose)(struct room *r, const struct task *t, unsigned pool, units_t n,
                                 void *ctx);

/* Places every grant of the plan. A task that must fit on one node and does not is granted
 * what fits, if it can run on that, otherwise nothing. */
void place_grants(struct room *r, struct plan *plan, place_choose choose, void *ctx);

/* All of a placer that leaves running tasks where they are. */
void place_in_place(const struct snapshot *s, struct plan *plan, place_choose choose, void *ctx);

/* Adds units to a placement made in the arena; parts on the same node are joined. */
void place_add(struct placement *p, uint32_t *cap, uint32_t node, units_t n, struct arena *a);

#endif
