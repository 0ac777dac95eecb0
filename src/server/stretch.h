/* Stretches of the journal. Each begins with a new engine and all tasks of the previous one,
 * so that it can be replayed and deleted on its own. */
#ifndef SERVER_STRETCH_H
#define SERVER_STRETCH_H

#include "server/yard.h"

/* Creates the engine, without tasks, and begins a stretch with it. */
int stretch_begin(struct yard *y, const struct combo *combo, struct err *err);
/* Restores the job's task in the engine. A job that no longer fits is stopped and requeued. */
void stretch_restore(struct yard *y, struct live_job *j, const struct task *was);
/* Call after all tasks were restored. Restoring has no effects, so this resizes attempts to
 * what the engine gives them now. */
void stretch_follow(struct yard *y);
/* Begins another stretch: a new engine with the same tasks. */
int stretch_renew(struct yard *y, struct err *err);

#endif
