/* Which running tasks a decision must leave alone. */
#ifndef ENGINE_PROTECT_H
#define ENGINE_PROTECT_H

#include "engine/engine.h"

/* Pins tasks that were preempted before and have not run for `min_run` since, and unpins those
 * that have. */
void protect_recent(struct engine *e, usec_t now);

/* Grants pinned tasks that the allocator has left out their smallest size. */
void protect_pinned(const struct engine *e, struct plan *plan, usec_t now);

/* Lets a task that could not restart continue as it is if the placed plan leaves it without
 * units, but nobody takes those that it has. */
void protect_unused(struct engine *e, struct plan *plan);

#endif
