/* Tasks that run on the units of another task. The other one, their host, holds the units; nodes
 * know only of it. All tasks of a group are in a ring (task.mate). */
#ifndef ENGINE_RIDE_H
#define ENGINE_RIDE_H

#include "engine/engine.h"

/* The task of the group that holds the units. */
uint32_t ride_host(const struct engine *e, uint32_t task);

/* How fast the task is in its group, as a share of its speed alone. */
double ride_rate(const struct engine *e, uint32_t task);

/* Drops rides whose host found no place, or is placed with a size that the task cannot use. */
void ride_settle(const struct engine *e, struct plan *plan);

/* Before units are freed: tasks that ride no more, or with another host, leave their group. */
void ride_leave(struct engine *e, const struct plan *plan, usec_t now);
/* After units are taken: tasks join their hosts. */
void ride_join(struct engine *e, const struct plan *plan, usec_t now);
/* The host has changed: its riders stand still for as long as it does. */
void ride_follow(struct engine *e, uint32_t host);

/* Takes a task out of its group for good. If it was the host, another one takes its units over,
 * and the task holds nothing. */
void ride_bequeath(struct engine *e, uint32_t task, usec_t now);

/* Takes a task that fails out of its group. If it was the host, its riders fail with it. */
void ride_fail(struct engine *e, uint32_t task, usec_t now);

#endif
