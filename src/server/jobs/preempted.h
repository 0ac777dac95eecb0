/* What it costs a job to make room for another one: who got its resources, when, and how much
 * running time has to be repeated. */
#ifndef SERVER_JOBS_PREEMPTED_H
#define SERVER_JOBS_PREEMPTED_H

#include "server/jobs/attempts.h"

/* The id of the job that gets what another one gives up; 0 = none. `task` is the engine's, or
 * TASK_NONE. */
int64_t preempted_by(const struct yard *y, uint32_t task);

/* "preempted by job 7 at 14:02, lost 12m". `by` 0 = nobody in particular, `lost` < 0 = unknown. */
void preempted_phrase(int64_t by, usec_t at, usec_t lost, struct str *out);

/* The job is frozen to make room: its reason says for whom. */
void preempted_frozen(struct live_job *j, const struct attempt *a);
/* The preempted attempt has ended: sets what it lost. */
void preempted_ended(const struct yard *y, struct live_job *j, struct attempt *a,
                     const struct ending *end);
/* The job reports a step. The first one after a preemption shows how much was really lost. */
void preempted_report(struct yard *y, struct live_job *j, double step);

#endif
