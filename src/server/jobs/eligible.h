/* Whether a job may be in the queue, and what blocks it. */
#ifndef SERVER_JOBS_ELIGIBLE_H
#define SERVER_JOBS_ELIGIBLE_H

#include "server/yard.h"

/* Finds out what blocks the job, and adds it to the queue or removes it. */
void eligible_offer(struct yard *y, struct live_job *j);
/* Call when nodes have changed: which jobs fit may have changed, too. */
void eligible_fit_all(struct yard *y);
/* Updates the jobs that depend on this one, after it started or ended. */
void eligible_tell(struct yard *y, const struct live_job *j);
/* Removes an ended job from the live ones, and updates the jobs that waited for it. */
void eligible_leave(struct yard *y, struct live_job *j);
/* Calls fn for each reason why the job is not in the queue: "hold", "afterok:11", "retry in
 * 10 s". */
void eligible_waits_for(const struct yard *y, const struct live_job *j,
                        void (*fn)(void *ctx, const char *text), void *ctx);

#endif
