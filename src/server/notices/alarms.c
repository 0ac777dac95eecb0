/* Owns the search for stalls and for deadlines at risk.
 *
 * A job has stalled when it has reported progress before, and now nothing for the time that the
 * server was given and for much longer than between its earlier reports. A deadline is at risk
 * when even the early end of the band of the expected end is after it, or when it has passed. */
#include "server/notices/alarms.h"

#include <jansson.h>

#include "server/events.h"
#include "server/jobs/estimate.h"
#include "server/log.h"
#include "server/yard.h"

/* Estimates change; this is how often a job with a deadline is looked at. */
#define ESTIMATE_EVERY (15 * USEC_PER_SEC)
#define SOON (USEC_PER_SEC / 2)
/* How much longer than the longest gap so far a stall is. */
enum { GAPS = 5 };

void alarms_progress(struct yard *y, struct live_job *j)
{
    struct alarms *a = &j->alarms;
    usec_t now = clock_now(&y->clock);
    if (a->attempt == j->row.attempt && a->progress && !a->stalled && now - a->progress > a->gap)
        a->gap = now - a->progress;
    if (a->attempt != j->row.attempt)
        a->gap = 0;
    a->attempt = j->row.attempt;
    if (!a->progress || a->stalled)
        alarms_changed(y);
    a->progress = now;
    a->stalled = false;
}

/* A job that is frozen, or has another size since, begins again to be silent. */
static bool may_stall(struct live_job *j, usec_t now)
{
    struct alarms *a = &j->alarms;
    if (j->row.state != JOB_RUNNING || !a->progress || a->attempt != j->row.attempt)
        return false;
    if (j->attempt->paused || j->attempt->unheard || j->attempt->busy)
        a->progress = now;
    return !a->stalled;
}

/* Returns the engine time of the next look. */
static usec_t check_stall(struct yard *y, struct live_job *j, usec_t now)
{
    struct alarms *a = &j->alarms;
    if (!y->config.stall || !may_stall(j, now))
        return USEC_NEVER;
    usec_t limit = a->gap * GAPS > y->config.stall ? a->gap * GAPS : y->config.stall;
    if (now - a->progress < limit)
        return a->progress + limit;
    a->stalled = true;
    events_add(y, "job.stalled", j->row.id,
               json_pack("{s:I, s:f}", "attempt", (json_int_t)j->row.attempt, "silent_s",
                         time_seconds(now - a->progress)));
    log_info("job=%lld attempt=%u makes no progress", (long long)j->row.id, j->row.attempt);
    return USEC_NEVER;
}

/* Returns the engine time of the next look. */
static usec_t check_deadline(struct yard *y, struct live_job *j, usec_t now, usec_t wall)
{
    struct range left = {0};
    if (!j->row.deadline)
        return USEC_NEVER;
    bool passed = wall >= j->row.deadline;
    bool known = !passed && j->row.state == JOB_RUNNING && estimate_left(y, j, &left);
    bool at_risk =
        passed || (known && (double)wall + left.low * USEC_PER_SEC > (double)j->row.deadline);
    if (!at_risk) {
        usec_t until = j->row.deadline - wall;
        return now + (until < ESTIMATE_EVERY ? until : ESTIMATE_EVERY);
    }
    if (j->row.risk == j->row.deadline)
        return USEC_NEVER; /* announced before, perhaps by an earlier server */
    j->row.risk = j->row.deadline;
    yard_touch(y, j);
    events_add(y, "job.at_risk", j->row.id,
               json_pack("{s:f, s:o}", "deadline", time_seconds(j->row.deadline), "expected_end",
                         known ? json_real(time_seconds(wall) + left.mid) : json_null()));
    return USEC_NEVER;
}

usec_t alarms_look(struct yard *y, usec_t now)
{
    usec_t wall = clock_wall(&y->clock), next = USEC_NEVER;
    if (now < y->notices.look_at)
        return y->notices.look_at;
    for (struct live_job *j = y->jobs.first; j; j = j->next) {
        usec_t stall = check_stall(y, j, now), risk = check_deadline(y, j, now, wall);
        next = stall < next ? stall : next;
        next = risk < next ? risk : next;
    }
    y->notices.look_at = next;
    return next;
}

void alarms_changed(struct yard *y)
{
    usec_t soon = clock_now(&y->clock) + SOON;
    if (y->notices.look_at > soon)
        y->notices.look_at = soon;
    if (y->care_at > soon)
        y->care_at = soon;
}
