/* Owns the desired state of attempts: begun, resized, stopped, ended. pursue.c carries it out
 * when the turn is on disk. */
#include "server/jobs/attempts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/str.h"
#include "server/events.h"
#include "server/jobs/eligible.h"
#include "server/jobs/gang.h"
#include "server/jobs/leases.h"
#include "server/jobs/links.h"
#include "server/jobs/move.h"
#include "server/jobs/parts.h"
#include "server/jobs/past.h"
#include "server/jobs/preempted.h"
#include "server/jobs/size.h"
#include "server/log.h"
#include "server/nodes.h"
#include "store/attempts.h"
#include "store/job_state.h"

static void make_token(char token[33])
{
    unsigned char bytes[16];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        abort();
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
}

char *attempt_dir(const struct yard *y, int64_t job, uint32_t n)
{
    struct str path = {0};
    str_addf(&path, "%s/jobs/%lld/%u", y->config.state_dir, (long long)job, n);
    return path.at;
}

void attempt_waits(struct runtime_host *h, struct attempt_id id, const char *why)
{
    struct yard *y = h->ctx;
    struct attempt *a = attempt_find(y, id);
    if (!a)
        return;
    free(a->waits);
    a->waits = why ? xstrdup(why) : NULL;
}

struct attempt *attempt_find(const struct yard *y, struct attempt_id id)
{
    for (size_t i = 0; i < y->attempts.n; i++)
        if (attempt_id_same(attempt_id_of(y->attempts.at[i]), id))
            return y->attempts.at[i];
    return NULL;
}

void attempt_enter(struct yard *y, struct attempt *a)
{
    a->at = y->attempts.n;
    VEC_PUSH(&y->attempts, a);
}

void attempt_forget(struct yard *y, struct attempt *a)
{
    struct attempt *last = y->attempts.at[--y->attempts.n];
    y->attempts.at[a->at] = last;
    last->at = a->at;
    if (a->link)
        links_over(a->link);
    turn_forget(y, a);
    attempt_free(a);
}

struct runtime_size attempt_size(const struct yard *y, const struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    return (struct runtime_size){
        .cpus = a->cpus,
        .cpu_limit = a->cpu_limit,
        .cpu_weight = a->cpu_weight,
        .gpus = a->gpus,
        .memory_mb = j ? j->terms.memory_mb : 0,
    };
}

const char *attempt_cpuset(const struct yard *y, const struct attempt *a)
{
    const struct yard_runtime *r = nodes_runtime(y, a->node);
    bool orphan = y->nodes.at[a->node].orphan;
    return orphan ? NULL : r->ops->cpuset(r->runtime, attempt_id_of(a));
}

char *attempt_part_dir(const struct yard *y, const struct attempt *a)
{
    struct str path = {0};
    if (!a->part)
        return attempt_dir(y, a->job, a->n);
    str_addf(&path, "%s/jobs/%lld/%u.%u", y->config.state_dir, (long long)a->job, a->n, a->part);
    return path.at;
}

static struct attempt_row make_row(const struct yard *y, const struct attempt *a)
{
    struct attempt_row row = {
        .job = a->job,
        .n = a->n,
        .part = a->part,
        .state = a->state,
        .created = a->created,
        .started = a->started,
        .ended = a->ended,
        .runtime = nodes_runtime(y, a->node)->ops->name,
        .node = y->cluster.nodes[a->node].name,
        .gpu_type = a->pool == POOL_CPU ? "" : y->cluster.gpu_types[a->pool - POOL_GPU],
        .cpus = a->cpus,
        .gpus = a->gpus,
        .cpu_limit = a->cpu_limit,
        .cpu_weight = a->cpu_weight,
        .pid = a->pid,
        .paused = a->paused,
        .grace = a->grace,
        .stopped_by = a->stopped_by,
        .frozen_at = a->frozen_at,
        .lost = a->lost,
        .seq = a->seq,
        .before = a->before,
        .ran = a->ran,
        .since = a->since,
        .cpu_seconds = a->cpu_seconds,
        .memory_max_mb = a->memory_max_mb,
        .code = a->code,
        .signal = a->signal,
        .lease = a->lease,
        .fenced = a->fenced,
        .fetch = a->fetch,
        .reason = a->reason  ? a->reason
                  : a->cause ? a->cause
                             : "",
        .error = a->error ? a->error : "",
        .left_running = a->left_running ? a->left_running : "",
    };
    snprintf(row.token, sizeof row.token, "%s", a->token);
    snprintf(row.boot, sizeof row.boot, "%s", a->boot);
    snprintf(row.stop, sizeof row.stop, "%s", stop_why_name(a->stop));
    return row;
}

int attempt_save(struct yard *y, struct attempt *a, struct err *err)
{
    struct attempt_row row = make_row(y, a);
    a->changed = false;
    return store_attempt_save(y->store, &row, err);
}

void attempt_touch(struct yard *y, struct attempt *a)
{
    if (a->changed)
        return;
    a->changed = true;
    VEC_PUSH(&y->turn.attempts, a);
}

/* Copies size and share from the engine's task, on the attempt's node. */
static void take_size(struct attempt *a, const struct live_job *j, const struct task *t)
{
    bool gpu = t->pool != POOL_CPU, one = t->at.n <= 1;
    units_t n = one ? t->n : placement_on(&t->at, a->node);
    a->pool = t->pool;
    a->gpus = gpu ? n : 0;
    a->cpus = job_cpus(&j->job[j->job_now], t->pool, n);
    if (gpu && !a->cpus)
        a->cpus = j->terms.cpus_max / (j->terms.gang ? (units_t)j->terms.workers_max : 1);
    a->cpu_limit = gpu || !one || t->cpu_limit < a->cpus ? a->cpus : t->cpu_limit;
    a->cpu_weight = t->cpu_weight > 0 ? t->cpu_weight : 1;
    a->share = gpu || !one ? a->cpus : (units_t)llround(t->cpu_used);
}

static json_t *size_object(const struct attempt *a, const char *why)
{
    json_t *o = json_pack("{s:I, s:f, s:f}", "attempt", (json_int_t)a->n, "cpus",
                          (double)gang_cpus(a) / UNIT, "gpus", (double)gang_gpus(a) / UNIT);
    if (why)
        json_object_set_new(o, "why", json_string(why));
    return o;
}

/* A part of attempt n of the job, on one of the nodes of its task. */
static struct attempt *add_part(struct yard *y, struct live_job *j, const struct task *t,
                                uint32_t n, uint32_t part)
{
    struct attempt *a = xcalloc(1, sizeof *a);
    struct err err;
    *a = (struct attempt){.job = j->row.id,
                          .n = n,
                          .part = part,
                          .state = JOB_STARTING,
                          .created = clock_wall(&y->clock),
                          .code = -1,
                          .lost = -1,
                          .before = t->run_time,
                          .ran = t->run_time,
                          .unheard = clock_now(&y->clock)};
    make_token(a->token);
    snprintf(a->boot, sizeof a->boot, "%s", y->boot_id);
    a->node = t->at.at[part].node;
    take_size(a, j, t);
    a->fetch = !nodes_runtime(y, a->node)->ops->in_place;
    lease_begin(y, a, &j->terms);
    attempt_enter(y, a);
    struct attempt_row row = make_row(y, a);
    if (store_attempt_add(y->store, &row, &err) < 0)
        log_warning("job=%lld attempt=%u: %s", (long long)a->job, a->n, err.text);
    turn_pursue(y, a);
    return a;
}

void attempt_begin(struct yard *y, struct live_job *j, const struct task *t)
{
    struct attempt *a = add_part(y, j, t, j->row.attempt + 1, 0);
    for (uint32_t i = 1; i < t->at.n; i++)
        gang_join(a, add_part(y, j, t, a->n, i));
    j->attempt = a;
    j->row.attempt = a->n;
    j->row.state = JOB_STARTING;
    j->progress = (struct progress_seen){0};
    j->first_step = NAN;
    estimate_break(y, j, NULL);
    plateau_break(&j->plateau);
    past_find(y, j);
    j->usage = (struct usage_seen){0};
    yard_touch(y, j);
    events_add(y, "job.started", a->job, size_object(a, NULL));
}

/* The GPUs of a process cannot change while it runs: it is stopped, and its next attempt gets the
 * new ones. It keeps those that it has until then. */
static void begin_again(struct yard *y, struct live_job *j, const struct task *t, const char *why)
{
    struct attempt *a = j->attempt;
    if (a->stop != STOP_NONE)
        return; /* the next attempt takes the size of then */
    struct attempt next = *a;
    take_size(&next, j, t);
    events_add(y, "job.resized", a->job,
               size_object(&next, j->by_hand == y->engine.decisions ? "hand" : why));
    attempt_stop(y, j, STOP_RESIZE, -1);
}

void attempt_resize(struct yard *y, struct live_job *j, const struct task *t, const char *why)
{
    struct attempt *a = j->attempt;
    struct attempt before = *a;
    if (move_is_due(j, t)) {
        move_begin(y, j, t, why);
        return;
    }
    if (a->next_part)
        return; /* it has whole CPUs, and shares them with nobody */
    if (t->pool != POOL_CPU && t->n != a->gpus) {
        begin_again(y, j, t, why);
        return;
    }
    take_size(a, j, t);
    size_wake(y, a->node);
    if (before.cpus == a->cpus && before.cpu_limit == a->cpu_limit &&
        before.cpu_weight == a->cpu_weight) {
        if (parts_of(j, &before) != parts_of(j, a))
            turn_pursue(y, a);
        return;
    }
    attempt_touch(y, a);
    estimate_break(y, j, &before);
    if (before.cpus != a->cpus)
        events_add(y, "job.resized", a->job,
                   size_object(a, j->by_hand == y->engine.decisions ? "hand" : why));
    turn_pursue(y, a);
}

/* Adds the job that the attempt makes room for. */
static json_t *with_taker(json_t *o, const struct attempt *a)
{
    if (a->stopped_by)
        json_object_set_new(o, "by", json_integer(a->stopped_by));
    return o;
}

void attempt_pause(struct yard *y, struct live_job *j, const struct task *t, bool pause,
                   uint32_t taker)
{
    struct attempt *a = j->attempt;
    if (pause && a->stop != STOP_NONE)
        return; /* frozen, it could not end */
    for (struct attempt *p = a->next_part; p; p = p->next_part) {
        p->paused = pause;
        size_wake(y, p->node);
        attempt_touch(y, p);
        turn_pursue(y, p);
    }
    a->paused = pause;
    a->ran = t->run_time;
    a->since = clock_wall(&y->clock);
    if (pause) {
        a->stopped_by = preempted_by(y, taker);
        a->frozen_at = a->since;
        preempted_frozen(j, a);
        yard_touch(y, j);
    } else {
        take_size(a, j, t);
    }
    estimate_break(y, j, pause ? a : NULL);
    plateau_break(&j->plateau);
    size_wake(y, a->node);
    attempt_touch(y, a);
    events_add(y, pause ? "job.paused" : "job.resumed", a->job,
               pause ? with_taker(json_object(), a) : size_object(a, NULL));
    turn_pursue(y, a);
}

void attempt_stop(struct yard *y, struct live_job *j, enum stop_why why, usec_t grace)
{
    struct attempt *a = j->attempt;
    if (a->stop != STOP_NONE && why != STOP_CANCEL)
        return;
    j->row.state = JOB_STOPPING;
    for (struct attempt *p = a; p; p = p->next_part) {
        p->stop = why;
        p->grace = grace < 0 ? j->terms.grace : grace;
        p->state = JOB_STOPPING;
        p->paused = false; /* a frozen job cannot save its state */
        attempt_touch(y, p);
        turn_pursue(y, p);
    }
    yard_touch(y, j);
    if (why == STOP_PREEMPT)
        events_add(y, "job.preempted", a->job, with_taker(size_object(a, NULL), a));
}

void attempt_preempt(struct yard *y, struct live_job *j, uint32_t taker)
{
    struct attempt *a = j->attempt;
    if (a->stop == STOP_NONE) /* a paused one may have made room for another job before */
        a->stopped_by = preempted_by(y, taker);
    attempt_stop(y, j, STOP_PREEMPT, -1);
}

void attempt_started(struct yard *y, struct attempt *a, usec_t at)
{
    struct live_job *j = yard_live(y, a->job);
    if (a->started || !j || !gang_has(j, a))
        return;
    a->started = at;
    if (a->part) {
        a->state = a->state == JOB_STARTING ? JOB_RUNNING : a->state;
        attempt_touch(y, a);
        return;
    }
    if (!j->row.started)
        j->row.started = at;
    if (a->state == JOB_STARTING)
        a->state = j->row.state = JOB_RUNNING;
    move_started(y, j, a);
    attempt_touch(y, a);
    yard_touch(y, j);
    eligible_tell(y, j);
}

/* ---- the end ------------------------------------------------------------- */

/* Whether the job has made its last step. If it then exits with code 0, it is done, even if it
 * was asked to stop in the meantime. */
static bool is_complete(const struct live_job *j)
{
    const struct progress_seen *p = &j->progress;
    return p->known && p->total > 0 && p->step >= p->total;
}

/* Returns the job to the queue. Its task is running, stopping or paused. */
static void queue_again(struct yard *y, struct live_job *j, bool failed, const char *reason)
{
    struct err err;
    if (j->submission->bare) {
        yard_end(y, j, JOB_FAILED, 125, SUBMISSION_BARE);
        return;
    }
    const struct task *t = yard_task(y, j);
    struct event event = {.kind = t && t->phase == TASK_STOPPING ? EVENT_STOPPED : EVENT_FAILED,
                          .task = j->task};
    if (t && yard_step(y, &event, &err) < 0)
        log_warning("job=%lld requeue: %s", (long long)j->row.id, err.text);
    j->row.state = j->row.held ? JOB_HELD : JOB_QUEUED;
    free((char *)j->row.reason);
    j->row.reason = xstrdup(reason);
    if (failed) {
        unsigned doublings = j->row.failures - 1 < 16 ? j->row.failures - 1 : 16;
        j->row.eligible = clock_wall(&y->clock) + (j->terms.backoff << doublings);
        events_add(y, "job.retried", j->row.id,
                   json_pack("{s:s, s:s, s:I, s:f}", "reason", reason, "error", j->row.error,
                             "failures", (json_int_t)j->row.failures, "eligible",
                             time_seconds(j->row.eligible)));
    }
    yard_touch(y, j);
    eligible_offer(y, j);
    eligible_tell(y, j);
}

static void fail_or_retry(struct yard *y, struct live_job *j, const struct ending *end,
                          const char *reason)
{
    j->row.failures++;
    if (j->row.failures <= j->terms.retries)
        queue_again(y, j, true, reason);
    else
        yard_end(y, j, JOB_FAILED, end->code, reason);
}

/* Whether the attempt ended because its machine went down: the server or the machine asked it
 * to, or it was gone afterwards. */
static bool went_down(const struct ending *end, enum stop_why stop)
{
    return stop == STOP_SHUTDOWN || (end->lost && end->rebooted) ||
           !strcmp(end->stop, EXIT_STOP_TERMINATED);
}

/* A job that can continue does, and so does one that took its leave with code 0. */
static void settle_shutdown(struct yard *y, struct live_job *j, const struct ending *end)
{
    static const char down[] = "the machine was shut down",
                      restarted[] = "the machine was restarted";
    const char *reason = end->lost ? restarted : down;
    if (end->code == 0 && is_complete(j))
        yard_end(y, j, JOB_DONE, 0, "");
    else if (j->terms.resumes || j->terms.requeue || end->code == 0)
        queue_again(y, j, false, reason);
    else
        fail_or_retry(y, j, end, reason);
}

/* A job whose node was lost, or whose conductor lost the server, is not to blame: it runs again,
 * from its checkpoint if it can. */
static void settle_lost(struct yard *y, struct live_job *j, const struct ending *end,
                        const char *reason)
{
    bool unreached = end->node_lost || !strcmp(end->stop, EXIT_STOP_LEASE);
    if (end->code == 0 && is_complete(j))
        yard_end(y, j, JOB_DONE, 0, "");
    else if (unreached || j->terms.requeue)
        queue_again(y, j, false, reason);
    else
        fail_or_retry(y, j, end, reason);
}

/* How long after the start of its machine a job waits for its working directory. */
#define MOUNT_PATIENCE (10 * 60 * USEC_PER_SEC)
/* Between two looks for it. */
#define MOUNT_LOOK (15 * USEC_PER_SEC)

/* Whether the directory may just not be mounted yet: the machine has started a moment ago, and
 * the job was there before. */
static bool may_be_mounted(const struct yard *y, const struct live_job *j)
{
    usec_t up = clock_up(&y->clock), wall = clock_wall(&y->clock);
    return up < MOUNT_PATIENCE && j->row.submitted < wall - up;
}

static void wait_for_mount(struct yard *y, struct live_job *j, const struct ending *end)
{
    struct str text = {0};
    str_addf(&text, "%s; waiting until 10 minutes after the start of the machine", end->reason);
    j->row.eligible = clock_wall(&y->clock) + MOUNT_LOOK;
    queue_again(y, j, false, text.at);
    str_done(&text);
}

/* Ends or requeues the job. `stop` is why its attempt was stopped, or STOP_NONE if the attempt
 * ended before the stop reached it. */
static void settle_job(struct yard *y, struct live_job *j, const struct ending *end,
                       enum stop_why stop)
{
    char text[160];
    const char *reason = end->reason;
    if (end->oom && !*reason)
        reason = "it was killed because it used more memory than its limit";
    if (stop == STOP_CANCEL) {
        yard_end(y, j, JOB_CANCELLED, end->code, "cancelled");
    } else if (stop == STOP_REQUEUE) {
        queue_again(y, j, false, "requeued by a user");
    } else if (end->no_workdir && may_be_mounted(y, j)) {
        wait_for_mount(y, j, end);
    } else if (stop == STOP_DIVERGED) {
        snprintf(text, sizeof text, "stopped because its loss became %s", j->row.diverged);
        fail_or_retry(y, j, end, text);
    } else if (stop == STOP_EARLY) {
        yard_end(y, j, JOB_DONE, 0, j->row.reason);
    } else if (end->timeout) {
        yard_end(y, j, JOB_TIMEOUT, end->code, *reason ? reason : "it ran into its time limit");
    } else if (went_down(end, stop)) {
        settle_shutdown(y, j, end);
    } else if (stop_goes_on(stop) && !end->lost && !(end->code == 0 && is_complete(j))) {
        if (!move_go_on(y, j, end))
            queue_again(y, j, false,
                        stop == STOP_MOVE ? "moved to another node"
                                          : "it starts again with other GPUs");
    } else if (stop == STOP_PREEMPT && !(end->code == 0 && is_complete(j))) {
        queue_again(y, j, false, reason);
    } else if (end->never_ran) {
        snprintf(text, sizeof text, "it was not started: %.*s", (int)sizeof text - 24, reason);
        queue_again(y, j, false, text);
    } else if (end->lost || !strcmp(end->stop, EXIT_STOP_LEASE)) {
        settle_lost(y, j, end, reason);
    } else if (end->code == 0) {
        yard_end(y, j, JOB_DONE, 0, "");
    } else {
        if (!*reason) {
            snprintf(text, sizeof text, end->signal ? "killed by signal %d" : "exit code %d",
                     end->signal ? end->signal : end->code);
            reason = text;
        }
        fail_or_retry(y, j, end, reason);
    }
}

static enum job_state state_of(const struct ending *end, enum stop_why stop)
{
    if (stop == STOP_DIVERGED)
        return JOB_FAILED;
    if (stop == STOP_EARLY)
        return JOB_DONE;
    if (stop != STOP_NONE && stop != STOP_TIMEOUT)
        return JOB_CANCELLED;
    return end->timeout                  ? JOB_TIMEOUT
           : end->lost || end->never_ran ? JOB_LOST
           : end->code == 0              ? JOB_DONE
                                         : JOB_FAILED;
}

void attempt_over(struct yard *y, struct attempt *a, const struct ending *end)
{
    struct live_job *j = yard_live(y, a->job);
    if (!j || !gang_has(j, a) || gang_end_part(y, j, a, end))
        return;
    struct ending blamed = *end;
    if (gang_blame(a, &blamed)) {
        a->stop = STOP_NONE;
        end = &blamed;
    }
    bool heard = *end->stop || end->lost || end->never_ran || !end->started;
    /* If a user has cancelled or requeued the job, a failure just before does not count. */
    bool moot = end->code != 0 && (a->stop == STOP_CANCEL || a->stop == STOP_REQUEUE);
    enum stop_why stop = heard || moot ? a->stop : STOP_NONE;
    if (end->started)
        attempt_started(y, a, end->started);
    a->state = state_of(end, stop);
    a->ended = end->at;
    a->code = end->code;
    a->signal = end->signal;
    a->reason = xstrdup(stop == STOP_NONE || *end->reason ? end->reason : stop_why_name(stop));
    a->error = end->error && *end->error ? xstrdup(end->error) : NULL;
    a->left_running = end->left_running && *end->left_running ? xstrdup(end->left_running) : NULL;
    free((char *)j->row.error);
    j->row.error = xstrdup(a->error ? a->error : "");
    a->cpu_seconds = end->cpu_seconds;
    a->memory_max_mb = end->memory_max_mb;
    a->fetch &= !end->never_ran;
    if (stop == STOP_PREEMPT)
        preempted_ended(y, j, a, end);
    attempt_touch(y, a);
    a->shrink_by = 0;
    j->attempt = NULL;
    a->leaves = true;
    size_wake(y, a->node);
    turn_pursue(y, a);
    log_info("job=%lld attempt=%u ended code=%d signal=%d%s%s", (long long)a->job, a->n, a->code,
             a->signal, *a->reason ? " reason=" : "", a->reason);
    struct ending told = *end;
    if (stop == STOP_PREEMPT && !end->timeout)
        told.reason = a->reason;
    settle_job(y, j, &told, stop);
}

/* A job that ended while no server was there ended then, not when the next one heard of it. */
static void over_at(struct yard *y, struct attempt *a, const struct ending *end)
{
    struct live_job *j = yard_live(y, a->job);
    usec_t now = clock_wall(&y->clock);
    if (j && end->at < now && end->at >= j->row.submitted)
        j->recorded_end = end->at;
    attempt_over(y, a, end);
    if ((j = yard_live(y, a->job)))
        j->recorded_end = 0;
}

void attempt_over_by(struct yard *y, struct attempt *a, const struct exit_record *r)
{
    struct ending end = {
        .at = r->at,
        .never_ran = r->untried,
        .started = r->started,
        .code = r->code,
        .signal = r->signal,
        .oom = r->oom,
        .timeout = r->timeout,
        .no_workdir = r->no_workdir,
        .stop = r->stop,
        .reason = r->reason,
        .error = r->error,
        .left_running = r->left_running,
        .cpu_seconds = r->usage.cpu_us > 0 ? (double)r->usage.cpu_us / 1e6 : 0,
        .memory_max_mb =
            r->usage.memory_peak_bytes > 0 ? (double)r->usage.memory_peak_bytes / 1048576 : 0,
    };
    if (r->untried)
        nodes_refused(y, a->node, r->reason);
    over_at(y, a, &end);
}
