/* Owns the actions of users on jobs: cancel, hold, release, requeue, resize, and changes of
 * priority, deadline or time limit. */
#include "server/jobs/verbs.h"

#include <jansson.h>

#include "server/boot.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/eligible.h"
#include "server/jobs/move.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "store/jobs.h"

struct seen {
    enum job_state state;
};

static int see_state(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    ((struct seen *)ctx)->state = row->state;
    return 0;
}

/* The job; NULL and an error if it has ended or does not exist. */
static struct live_job *require_live(struct yard *y, int64_t id, struct err *err)
{
    struct live_job *j = yard_live(y, id);
    struct seen seen;
    if (j || store_job_get(y->store, id, see_state, &seen, err) < 0)
        return j;
    err_set(err, ERR_CONFLICT, "job %lld has ended (%s)", (long long)id,
            job_state_name(seen.state));
    return NULL;
}

int verb_cancel(struct yard *y, int64_t id, usec_t grace, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    if (!j)
        return -1;
    if (j->attempt)
        attempt_stop(y, j, STOP_CANCEL, grace);
    else
        yard_end(y, j, JOB_CANCELLED, -1, "cancelled");
    turn_hurry(y);
    return 0;
}

static void set_held(struct yard *y, struct live_job *j, bool held)
{
    j->row.held = held;
    if (!j->attempt)
        j->row.state = held ? JOB_HELD : JOB_QUEUED;
    eligible_offer(y, j);
    yard_touch(y, j);
    events_add(y, held ? "job.held" : "job.released", j->row.id, NULL);
    turn_hurry(y);
}

int verb_hold(struct yard *y, int64_t id, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    if (!j)
        return -1;
    bool frozen = j->attempt && j->attempt->paused && !j->job[j->job_now].no_restart;
    if (j->attempt && j->attempt->stop != STOP_PREEMPT && !frozen)
        return err_set(err, ERR_CONFLICT,
                       "job %lld is %s; `trainyard requeue --hold %lld` stops it and holds it",
                       (long long)id, job_state_name(j->row.state), (long long)id);
    set_held(y, j, true);
    return 0;
}

int verb_release(struct yard *y, int64_t id, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    if (!j)
        return -1;
    if (!j->row.held)
        return err_set(err, ERR_CONFLICT, "job %lld is not held; it is %s", (long long)id,
                       job_state_name(j->row.state));
    set_held(y, j, false);
    return 0;
}

/* What the job had of its submitter's environment was removed when it ended. */
static int dress_again(struct yard *y, struct live_job *j, struct spec_list *environment,
                       struct err *err)
{
    if (!j->submission->bare)
        return 0;
    if (!environment || !environment->n)
        return err_set(err, ERR_CONFLICT,
                       "the environment of job %lld was removed when it ended; `trainyard "
                       "requeue` sends yours along",
                       (long long)j->row.id);
    return submission_dress(&y->submissions, j->submission, environment, err);
}

static int requeue_over(struct yard *y, int64_t id, bool hold, struct spec_list *environment,
                        struct err *err)
{
    struct live_job *j = yard_revive(y, id, err);
    if (!j)
        return -1;
    if (dress_again(y, j, environment, err) < 0) {
        yard_unrevive(y, j);
        return -1;
    }
    j->row.held = hold;
    j->row.state = hold ? JOB_HELD : JOB_QUEUED;
    j->row.code = -1;
    j->row.ended = j->row.eligible = 0;
    j->row.failures = 0;
    free((char *)j->row.reason);
    j->row.reason = xstrdup("requeued by a user");
    if (yard_save(y, j, err) < 0)
        return -1;
    eligible_offer(y, j);
    return 0;
}

int verb_requeue(struct yard *y, int64_t id, bool hold, struct spec_list *environment,
                 struct err *err)
{
    struct live_job *j = yard_live(y, id);
    if (j && !j->attempt)
        return err_set(err, ERR_CONFLICT, "job %lld is %s: it has not started", (long long)id,
                       job_state_name(j->row.state));
    if (j && j->attempt->stop == STOP_CANCEL)
        return err_set(err, ERR_CONFLICT, "job %lld is being cancelled", (long long)id);
    if (j) {
        j->row.held |= hold;
        yard_touch(y, j);
        attempt_stop(y, j, STOP_REQUEUE, -1);
    } else if (requeue_over(y, id, hold, environment, err) < 0) {
        return -1;
    }
    events_add(y, "job.requeued", id, NULL);
    turn_hurry(y);
    return 0;
}

int verb_migrate(struct yard *y, int64_t id, const char *node, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    uint32_t to = UINT32_MAX;
    if (!j || (node && nodes_find(y, node, &to, err) < 0))
        return -1;
    return move_by_hand(y, j, to, err);
}

int verb_change(struct yard *y, int64_t id, const struct job_change *c, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    if (!j)
        return -1;
    struct terms terms = j->terms;
    if (c->set_time_limit)
        terms.time_limit = c->time_limit;
    if (rules_apply_terms(y, j, &terms, c->set_priority ? c->priority : j->row.priority,
                          c->set_deadline ? c->deadline : j->row.deadline, err) < 0)
        return -1;
    if (c->set_time_limit && j->attempt)
        turn_pursue(y, j->attempt);
    events_add(y, "job.changed", id, NULL);
    return 0;
}

static int check_sizes(const struct yard *y, const struct live_job *j, units_t min, units_t max,
                       struct err *err)
{
    const struct terms *t = &j->terms;
    const struct task *task = yard_task(y, j);
    double lo = (double)t->asked_min / UNIT, hi = (double)t->asked_max / UNIT;
    long long id = j->row.id;
    if (t->pool != POOL_CPU)
        return err_set(err, ERR_CONFLICT,
                       "job %lld runs on GPUs, which cannot be resized in place; cancel it and "
                       "submit it with another number",
                       id);
    if (min == t->asked_min && max == t->asked_max)
        return 0;
    if (t->asked_min == t->asked_max)
        return err_set(err, ERR_CONFLICT,
                       "job %lld is rigid: it requested exactly %g CPU%s; submit it with a range, "
                       "as in --cpus 1-2",
                       id, lo, t->asked_min == UNIT ? "" : "s");
    if (min < t->asked_min || max > t->asked_max)
        return err_set(
            err, ERR_INVALID,
            "cpus: %g is outside the range that job %lld was submitted with, %g to %g CPUs",
            (double)(min < t->asked_min ? min : max) / UNIT, id, lo, hi);
    if (t->resize == SPEC_RESIZE_NONE && task && task_running(task) &&
        (task->n < min || task->n > max))
        return err_set(err, ERR_CONFLICT,
                       "job %lld does not change its size while it runs (resize: none); requeue "
                       "it with --hold, resize it and release it",
                       id);
    return 0;
}

int verb_resize(struct yard *y, int64_t id, units_t min, units_t max, struct err *err)
{
    struct live_job *j = require_live(y, id, err);
    if (!j)
        return -1;
    if (!min) {
        min = j->terms.asked_min;
        max = j->terms.asked_max;
    }
    if (check_sizes(y, j, min, max, err) < 0)
        return -1;
    struct terms terms = j->terms;
    terms.cpus_min = min;
    terms.cpus_max = max;
    if (rules_apply_terms(y, j, &terms, j->row.priority, j->row.deadline, err) < 0)
        return -1;
    j->by_hand = y->engine.decisions + 1;
    events_add(
        y, "job.changed", id,
        json_pack("{s:f, s:f}", "cpus_min", (double)min / UNIT, "cpus_max", (double)max / UNIT));
    return 0;
}
