/* Whether a job is in the queue, and what keeps it out. */
#ifndef SERVER_JOBS_ELIGIBLE_H
#define SERVER_JOBS_ELIGIBLE_H

#include "server/yard.h"

/* Puts the job into the queue or takes it out, as its blocks say. */
void eligible_offer(struct yard *y, struct live_job *j);
/* The nodes have changed: jobs that none could hold may fit now, and others no more. */
void eligible_fit_all(struct yard *y);
/* Tells the jobs that depend on this one what has become of it. */
void eligible_tell(struct yard *y, const struct live_job *j);
/* Takes a job that is over out of the live ones, and tells those that waited for it. */
void eligible_leave(struct yard *y, struct live_job *j);
/* Sentences that say why the job is not in the queue: "hold", "afterok:11", "retry in
 * 10 s". Calls fn for each. */
void eligible_waits_for(const struct yard *y, const struct live_job *j,
                        void (*fn)(void *ctx, const char *text), void *ctx);

#endif
