/* Owns whether a job is in the queue: what blocks it, and what changes when another job starts
 * or ends.
 *
 * The engine does not know a job that was blocked from the start. A job that is blocked later
 * (held, or before a retry) is held in the engine. */
#include "server/jobs/eligible.h"

#include <jansson.h>
#include <stdio.h>

#include "base/str.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/rules.h"
#include "server/log.h"
#include "store/job_state.h"
#include "wire/spec_lists.h"

/* Whether it waits for an older job of its name. A singleton is a dependency on job 0. */
static bool waits_for_elder(struct live_job *j)
{
    return live_dep_on(j, 0) && ties_elder(j);
}

static unsigned find_blocks(const struct yard *y, struct live_job *j)
{
    struct err err;
    unsigned blocks = j->row.held ? BLOCK_HOLD : 0;
    if (j->unmet)
        blocks |= BLOCK_DEPS;
    if (waits_for_elder(j))
        blocks |= BLOCK_SINGLETON;
    if (j->row.eligible > clock_wall(&y->clock))
        blocks |= BLOCK_BACKOFF;
    if (!j->attempt && rules_can_hold(y, j, &err) < 0)
        blocks |= BLOCK_NODES;
    /* An active member stays active. */
    if (!blocks && !j->ties.active && ties_array_full(j))
        blocks |= BLOCK_ARRAY;
    return blocks;
}

static int submit_task(struct yard *y, struct live_job *j, struct err *err)
{
    struct event event = {.kind = EVENT_SUBMIT, .job = &j->job[j->job_now]};
    if (yard_step(y, &event, err) < 0)
        return -1;
    j->task = y->engine.submitted;
    y->by_task.at[j->task] = j->row.id;
    return 0;
}

/* Offers waiting members of the array, up to its limit. */
static void offer_waiting(struct yard *y, int64_t array)
{
    struct live_job *j;
    while ((j = ties_waiting(&y->jobs.ties, array)) && !ties_array_full(j)) {
        eligible_offer(y, j);
        if (j->ties.waiting)
            break;
    }
}

void eligible_offer(struct yard *y, struct live_job *j)
{
    const struct task *t = yard_task(y, j);
    struct err err;
    int rc = 0;
    bool was_outside = j->blocks & BLOCK_NODES;
    j->blocks = find_blocks(y, j);
    if (was_outside && !(j->blocks & BLOCK_NODES))
        rules_tell_terms(y, j);
    if (j->blocks & BLOCK_BACKOFF) {
        backoffs_set(&y->jobs.backoffs, j);
        yard_care(y);
    } else {
        backoffs_remove(&y->jobs.backoffs, j);
    }
    if (!t && !j->blocks) {
        rc = submit_task(y, j, &err);
    } else if (t && j->blocks && (t->phase == TASK_QUEUED || t->phase == TASK_PAUSED)) {
        rc = yard_step(y, &(struct event){.kind = EVENT_HOLD, .task = j->task}, &err);
    } else if (t && !j->blocks && t->phase == TASK_HELD) {
        rc = yard_step(y, &(struct event){.kind = EVENT_RELEASE, .task = j->task}, &err);
    }
    if (rc < 0)
        log_warning("job=%lld queue: %s", (long long)j->row.id, err.text);
    bool was_active = j->ties.active, offered = j->task != TASK_NONE && !j->blocks;
    /* A frozen job that is held first saves itself, so it keeps its place until then. */
    ties_note(j, offered || j->attempt, j->blocks == BLOCK_ARRAY);
    if (was_active && !j->ties.active)
        offer_waiting(y, j->row.array);
}

void eligible_fit_all(struct yard *y)
{
    for (struct live_job *j = y->jobs.first, *next; j; j = next) {
        next = j->next;
        if (j->terms.gpu_type || j->terms.workers_max > 1 || j->estimate.fit.sizes > 1)
            rules_tell_terms(y, j);
        if (!j->attempt)
            eligible_offer(y, j);
    }
}

/* Updates the job's dependencies on `on`. Returns false if one can never be met. */
static bool update_deps(struct live_job *j, const struct live_job *on, struct str *why)
{
    const struct live_dep *end = j->deps.at + j->deps.n;
    for (struct live_dep *d = live_dep_on(j, on->row.id); d && d < end && d->on == on->row.id;
         d++) {
        if (d->met)
            continue;
        enum dep_state state = rules_dep(d->kind, on->row.state, on->row.started > 0);
        d->met = state == DEP_MET;
        j->unmet -= d->met;
        if (state == DEP_NEVER) {
            rules_say_never(d->kind, d->on, on->row.state, why);
            return false;
        }
    }
    return true;
}

void eligible_tell(struct yard *y, const struct live_job *on)
{
    VEC(int64_t) dependents = {0}; /* a copy: a job that is cancelled may end others */
    for (size_t i = 0; i < on->dependents.n; i++)
        VEC_PUSH(&dependents, on->dependents.at[i]);
    for (size_t i = 0; i < dependents.n; i++) {
        struct live_job *j = yard_live(y, dependents.at[i]);
        struct str why = {0};
        if (!j)
            continue;
        if (update_deps(j, on, &why))
            eligible_offer(y, j);
        else if (!j->attempt)
            yard_end(y, j, JOB_CANCELLED, -1, why.at);
        str_done(&why);
    }
    VEC_DONE(&dependents);
}

void eligible_leave(struct yard *y, struct live_job *j)
{
    const struct live_job *younger = ties_younger(j);
    int64_t next = younger ? younger->row.id : 0;
    live_remove(&y->jobs, j);
    eligible_tell(y, j);
    struct live_job *singleton = yard_live(y, next);
    if (singleton && singleton->blocks & BLOCK_SINGLETON)
        eligible_offer(y, singleton);
    offer_waiting(y, j->row.array);
}

void eligible_waits_for(const struct yard *y, const struct live_job *j,
                        void (*fn)(void *ctx, const char *text), void *ctx)
{
    char text[256], span[32];
    if (j->blocks & BLOCK_HOLD)
        fn(ctx, "hold");
    for (size_t i = 0; i < j->deps.n; i++) {
        const struct live_dep *d = &j->deps.at[i];
        if (d->kind == SPEC_SINGLETON || d->met)
            continue;
        snprintf(text, sizeof text, "%s:%lld", spec_dep_name(d->kind), (long long)d->on);
        fn(ctx, text);
    }
    if (j->blocks & BLOCK_SINGLETON)
        fn(ctx, "singleton");
    if (j->blocks & BLOCK_ARRAY) {
        snprintf(text, sizeof text, "array limit %u", j->terms.array_limit);
        fn(ctx, text);
    }
    struct err err;
    if (j->blocks & BLOCK_NODES && rules_can_hold(y, j, &err) < 0) {
        snprintf(text, sizeof text, "a node that can run it: %.*s", (int)sizeof text - 32,
                 err.text);
        fn(ctx, text);
    }
    if (j->blocks & BLOCK_BACKOFF) {
        usec_t left = j->row.eligible - clock_wall(&y->clock);
        snprintf(text, sizeof text, "retry in %s",
                 time_format(left > 0 ? left : 0, span, sizeof span));
        fn(ctx, text);
    }
}
