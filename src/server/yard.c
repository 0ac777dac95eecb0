/* Owns opening and closing the yard, passing events to the engine and applying its effects,
 * and saving jobs. */
#include "server/yard.h"
#include "server/uploads.h"

#include <assert.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "journal/journal.h"
#include "server/automatic.h"
#include "server/boot.h"
#include "server/events.h"
#include "server/jobs/attempts.h"
#include "server/jobs/category.h"
#include "server/jobs/early.h"
#include "server/jobs/eligible.h"
#include "server/jobs/growths.h"
#include "server/jobs/leases.h"
#include "server/jobs/parts.h"
#include "server/jobs/past.h"
#include "server/jobs/probe.h"
#include "server/jobs/pursue.h"
#include "server/jobs/reports.h"
#include "server/jobs/size.h"
#include "server/jobs/standing.h"
#include "server/kubernetes/front.h"
#include "server/log.h"
#include "server/nodes.h"
#include "server/notices/alarms.h"
#include "server/notices/deliver.h"
#include "server/upgrade_env.h"
#include "server/uploads.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/journal.h"
#include "store/store.h"
#include "store/trim.h"

struct live_job *yard_live(const struct yard *y, int64_t id)
{
    return live_find(&y->jobs, id);
}

struct live_job *yard_job_of_task(const struct yard *y, uint32_t task)
{
    return task < y->by_task.n && y->by_task.at[task] ? yard_live(y, y->by_task.at[task]) : NULL;
}

const struct task *yard_task(const struct yard *y, const struct live_job *j)
{
    return j->task == TASK_NONE ? NULL : &y->engine.tasks[j->task];
}

/* ---- the engine ---------------------------------------------------------- */

static void write_journal(struct yard *y, const char *kind, struct str *text)
{
    struct err err;
    if (store_journal_add(y->store, kind, text->at, &err) < 0)
        log_warning("journal: %s", err.text);
    y->journal_rows++;
    text->n = 0;
}

static void apply_effect(struct yard *y, const struct effect *f)
{
    struct live_job *j = yard_job_of_task(y, f->task);
    const struct task *t = &y->engine.tasks[f->task];
    if (!j)
        return;
    if (f->kind == EFFECT_START) {
        attempt_begin(y, j, t);
        return;
    }
    if (!j->attempt)
        return;
    switch (f->kind) {
    case EFFECT_LIST:
        standing_tell_list(y, j, f->axis);
        break;
    case EFFECT_RESIZE:
    case EFFECT_MOVE:
    case EFFECT_SHARE:
        attempt_resize(y, j, t, y->engine.config.combo.name);
        break;
    case EFFECT_PREEMPT:
        attempt_preempt(y, j, f->by);
        break;
    case EFFECT_PAUSE:
    case EFFECT_RESUME:
        attempt_pause(y, j, t, f->kind == EFFECT_PAUSE, f->by);
        break;
    case EFFECT_START:
        break;
    }
}

/* The effects belong to the engine's last step: applying them must not step it again. */
static void apply_effects(struct yard *y)
{
    y->entering = true;
    for (size_t i = 0; i < y->engine.effects.n; i++)
        apply_effect(y, &y->engine.effects.at[i]);
    for (size_t i = 0; i < y->engine.stale.n; i++)
        parts_divide(y, y->engine.stale.at[i]);
    y->entering = false;
    growths_keep(y);
}

int yard_step(struct yard *y, struct event *event, struct err *err)
{
    usec_t now = clock_now(&y->clock);
    uint64_t decisions = y->engine.decisions;
    assert(!y->entering);
    struct str text = {0};
    journal_write_event(event, now, &text);
    if (engine_step(&y->engine, event, now, err) < 0) {
        str_done(&text);
        return -1;
    }
    bool decided = y->engine.decisions != decisions;
    if (event->kind != EVENT_TICK || decided)
        write_journal(y, "event", &text);
    if (decided) {
        text.n = 0;
        journal_write_plan(&y->engine, now, &text);
        write_journal(y, "plan", &text);
    }
    str_done(&text);
    if (event->kind == EVENT_SUBMIT || event->kind == EVENT_RESTORE) {
        while (y->by_task.n <= y->engine.submitted)
            VEC_PUSH(&y->by_task, 0);
    }
    apply_effects(y);
    return 0;
}

/* ---- rows ---------------------------------------------------------------- */

static void update_row(struct yard *y, struct live_job *j)
{
    const struct task *t = yard_task(y, j);
    usec_t now = clock_now(&y->clock);
    if (!t)
        return;
    j->row.work = t->work;
    j->row.done = task_done(t, now);
    j->row.attained = task_attained(t, now);
    j->row.run_time = task_run_time(t, now);
    j->row.wait_time = task_wait_time(t, now);
}

int yard_save(struct yard *y, struct live_job *j, struct err *err)
{
    update_row(y, j);
    if (store_job_save(y->store, &j->row, err) == 0 && estimate_save(y->store, j, err) == 0)
        return 0;
    log_warning("job=%lld save: %s", (long long)j->row.id, err->text);
    return -1;
}

void yard_touch(struct yard *y, struct live_job *j)
{
    if (j->changed)
        return;
    j->changed = true;
    VEC_PUSH(&y->turn.changed, j);
}

static void drop_changed(struct yard *y, const struct live_job *j)
{
    for (size_t i = 0; i < y->turn.changed.n; i++)
        if (y->turn.changed.at[i] == j) {
            y->turn.changed.at[i] = y->turn.changed.at[--y->turn.changed.n];
            return;
        }
}

void yard_end(struct yard *y, struct live_job *j, enum job_state state, int code,
              const char *reason)
{
    struct event event = {.kind = EVENT_END, .task = j->task};
    struct err err;
    update_row(y, j);
    if (j->task != TASK_NONE) {
        if (yard_step(y, &event, &err) < 0)
            log_warning("job=%lld end: %s", (long long)j->row.id, err.text);
        y->by_task.at[j->task] = 0;
        j->task = TASK_NONE;
    }
    j->row.state = state;
    j->row.ended = j->recorded_end ? j->recorded_end : clock_wall(&y->clock);
    j->row.code = code;
    char *old = (char *)j->row.reason; /* `reason` may point into it */
    j->row.reason = xstrdup(reason);
    free(old);
    (void)yard_save(y, j, &err);
    if (state == JOB_DONE) {
        past_learn(y, j);
        category_learn(y, j);
    }
    events_add(y, "job.ended", j->row.id,
               json_pack("{s:s, s:i, s:s, s:s}", "state", job_state_name(state), "code", code,
                         "reason", j->row.reason, "error", j->row.error));
    metrics_ended(&y->metrics, &j->row);
    log_info("job=%lld state=%s code=%d", (long long)j->row.id, job_state_name(state), code);
    turn_hurry(y);
    early_leave(y, j);
    if (j->changed)
        drop_changed(y, j);
    eligible_leave(y, j);
    submission_end(&y->submissions, j->submission);
    live_job_free(j);
}

/* ---- policy --------------------------------------------------------------- */

int yard_set_policy(struct yard *y, const struct combo *combo, struct err *err)
{
    struct event event = {.kind = EVENT_POLICY, .combo = combo};
    automatic_stop(y);
    if (store_meta_set(y->store, "policy", combo->name, err) < 0 ||
        store_meta_set(y->store, "policy_choice", "", err) < 0 || yard_step(y, &event, err) < 0)
        return -1;
    events_add(y, "policy.changed", 0, json_pack("{s:s}", "policy", combo->name));
    log_info("policy=%s", combo->name);
    report_samples(y);
    turn_hurry(y);
    return 0;
}

/* ---- looking after things ------------------------------------------------ */

enum { SOON = 5000, SILENT_LOOK = 500000, RETRY_LOOK = 60000000 };

/* Looks at attempts that do not respond or are not cleaned up yet. An attempt with an
 * operation in progress is looked at when the operation is complete. */
static bool look_at_attempts(struct yard *y)
{
    bool more = false;
    for (size_t i = y->attempts.n; i-- > 0;) {
        struct attempt *a = y->attempts.at[i];
        if (a->busy || (a->link && !a->leaves && !a->again))
            continue;
        attempt_look(y, a);
        more = true;
    }
    return more;
}

/* Queues jobs whose retry is due; returns the wall time of the next one that is not. */
static usec_t end_backoffs(struct yard *y)
{
    struct live_job *j;
    while ((j = backoffs_first(&y->jobs.backoffs)) && j->row.eligible <= clock_wall(&y->clock))
        eligible_offer(y, j);
    return j ? j->row.eligible : USEC_NEVER;
}

/* Deletes some of the old rows. */
static void trim_store(struct yard *y)
{
    uint64_t removed = 0;
    struct err err;
    if (!y->trimming)
        return;
    if (store_trim(y->store, clock_wall(&y->clock) - y->config.keep, &removed, &err) < 0)
        log_warning("trim: %s", err.text);
    y->trimming = removed > 0;
    if (!y->trimming)
        uploads_trim(y);
}

static void care_by(struct yard *y, usec_t at)
{
    if (at < y->care_at)
        y->care_at = at;
}

void yard_look_after(struct yard *y)
{
    usec_t now = clock_now(&y->clock), retry = end_backoffs(y);
    bool silent = look_at_attempts(y);
    usec_t shrinking = size_look(y, now), closed = nodes_look(y, now);
    usec_t lease = lease_look(y, now);
    usec_t alarms = alarms_look(y, now), probes = probe_look(y, now);
    trim_store(y);
    y->care_at = USEC_NEVER;
    care_by(y, shrinking);
    care_by(y, closed);
    care_by(y, lease);
    care_by(y, alarms);
    care_by(y, probes);
    if (y->trimming)
        care_by(y, now + SOON);
    if (silent)
        care_by(y, now + SILENT_LOOK);
    /* Retries are due by the wall clock, which may be set in the meantime. */
    usec_t left = retry == USEC_NEVER ? USEC_NEVER : retry - clock_wall(&y->clock);
    if (left != USEC_NEVER)
        care_by(y, now + (left < RETRY_LOOK ? left : RETRY_LOOK));
}

void yard_care(struct yard *y)
{
    care_by(y, clock_now(&y->clock) + SOON);
}

/* ---- open and close ------------------------------------------------------ */

static void read_boot_id(struct yard *y)
{
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (!f)
        return;
    if (fgets(y->boot_id, sizeof y->boot_id, f))
        y->boot_id[strcspn(y->boot_id, "\n")] = '\0';
    fclose(f);
}

static int open_store(struct yard *y, struct err *err)
{
    struct str path = {0};
    str_addf(&path, "%s/trainyard.db", y->config.state_dir);
    int rc = store_open(path.at, &y->store, err);
    if (rc == 0 && upgrade_environments(y->store, path.at, y->config.state_dir, err) < 0) {
        store_close(y->store);
        rc = -1;
    }
    str_done(&path);
    return rc;
}

int yard_open(struct uv_loop_s *loop, const struct yard_config *config, struct yard **out,
              struct err *err)
{
    struct yard *y = xcalloc(1, sizeof *y);
    y->loop = loop;
    y->config = *config;
    y->submissions.state_dir = y->config.state_dir;
    clock_init(&y->clock, config->clock);
    if (config->boot_id)
        snprintf(y->boot_id, sizeof y->boot_id, "%s", config->boot_id);
    else
        read_boot_id(y);
    if (open_store(y, err) < 0) {
        free(y);
        return -1;
    }
    turn_init(y);
    metrics_init(&y->metrics, clock_wall(&y->clock));
    events_init(y);
    if (yard_load(y, err) < 0) {
        yard_close(y);
        return -1;
    }
    events_add(y, "server.started", 0, NULL);
    turn_hurry(y);
    deliver_open(y);
    y->ready = true;
    *out = y;
    return 0;
}

void yard_close(struct yard *y)
{
    kube_front_close(y->front);
    y->front = NULL;
    deliver_close(y);
    access_close(y);
    turn_done(y);
    events_done(y);
    uploads_done(y);
    yard_unload(y);
    store_close(y->store);
    metrics_done(&y->metrics);
    free(y);
}
