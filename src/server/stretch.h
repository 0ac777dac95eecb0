/* Stretches of the journal. Each begins with an engine that is told all that the one
 * before had, so that it can be replayed, and forgotten, on its own. */
#ifndef SERVER_STRETCH_H
#define SERVER_STRETCH_H

#include "server/yard.h"

/* Makes the engine, with no task, and begins a stretch with it. */
int stretch_begin(struct yard *y, const struct combo *combo, struct err *err);
/* Gives the engine a task that the job had. One that does not fit any more is stopped
 * and queued again. */
void stretch_restore(struct yard *y, struct live_job *j, const struct task *was);
/* After all tasks have been restored, which has no effects: attempts take over what the
 * engine gives them now. */
void stretch_follow(struct yard *y);
/* Begins another stretch, with an engine that has the same tasks. */
int stretch_renew(struct yard *y, struct err *err);

#endif
