/* Owns the life of an attempt in the books: begun, resized, stopped, over. What has
 * to be done to the real thing is noted as todo bits and done by act.c when the
 * turn is on disk. */
#include "server/jobs/attempts.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <sys/random.h>

#include "base/str.h"
#include "server/events.h"
#include "server/jobs/parts.h"
#include "server/log.h"
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

struct attempt *attempt_find(const struct yard *y, int64_t job, uint32_t n)
{
    const struct live_job *j = yard_live(y, job);
    if (j && j->attempt && j->attempt->n == n)
        return j->attempt;
    for (size_t i = 0; i < y->leaving.n; i++)
        if (y->leaving.at[i]->job == job && y->leaving.at[i]->n == n)
            return y->leaving.at[i];
    return NULL;
}

struct runtime_attempt attempt_to_runtime(const struct yard *y, const struct attempt *a)
{
    const struct live_job *j = yard_live(y, a->job);
    return (struct runtime_attempt){
        .job = a->job,
        .attempt = a->n,
        .node = y->cluster.nodes[a->node].name,
        .cpus = a->cpus,
        .cpu_limit = a->cpu_limit,
        .cpu_weight = a->cpu_weight,
        .gpus = a->gpus,
        .memory_mb = j ? j->terms.memory_mb : 0,
    };
}

static struct attempt_row make_row(const struct yard *y, const struct attempt *a)
{
    struct attempt_row row = {
        .job = a->job,
        .n = a->n,
        .state = a->state,
        .created = a->created,
        .started = a->started,
        .ended = a->ended,
        .node = y->cluster.nodes[a->node].name,
        .pool = a->pool,
        .cpus = a->cpus,
        .gpus = a->gpus,
        .cpu_limit = a->cpu_limit,
        .cpu_weight = a->cpu_weight,
        .pid = a->pid,
        .paused = a->paused,
        .grace = a->grace,
        .seq = a->seq,
        .ran = a->ran,
        .since = a->since,
        .cpu_seconds = a->cpu_seconds,
        .memory_max_mb = a->memory_max_mb,
        .code = a->code,
        .signal = a->signal,
        .reason = a->reason ? a->reason : "",
    };
    snprintf(row.token, sizeof row.token, "%s", a->token);
    snprintf(row.boot, sizeof row.boot, "%s", y->boot_id);
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

/* The size and the share that the engine gives. */
static void take_size(struct attempt *a, const struct live_job *j, const struct task *t)
{
    bool gpu = t->pool != POOL_CPU;
    a->pool = t->pool;
    a->node = t->at.n ? t->at.at[0].node : a->node;
    a->gpus = gpu ? t->n : 0;
    a->cpus = job_cpus(&j->job[j->job_now], t->pool, t->n);
    if (gpu && !a->cpus)
        a->cpus = j->terms.cpus_max;
    a->cpu_limit = gpu || t->cpu_limit < a->cpus ? a->cpus : t->cpu_limit;
    a->cpu_weight = t->cpu_weight > 0 ? t->cpu_weight : 1;
    a->share = gpu ? a->cpus : (units_t)llround(t->cpu_used);
}

static json_t *size_object(const struct attempt *a, const char *why)
{
    json_t *o = json_pack("{s:I, s:f, s:f}", "attempt", (json_int_t)a->n, "cpus",
                          (double)a->cpus / UNIT, "gpus", (double)a->gpus / UNIT);
    if (why)
        json_object_set_new(o, "why", json_string(why));
    return o;
}

void attempt_begin(struct yard *y, struct live_job *j, const struct task *t)
{
    struct attempt *a = xcalloc(1, sizeof *a);
    struct err err;
    *a = (struct attempt){.job = j->row.id,
                          .n = j->row.attempt + 1,
                          .state = JOB_STARTING,
                          .created = clock_wall(&y->clock),
                          .code = -1,
                          .ran = t->run_time,
                          .unheard = clock_now(&y->clock)};
    make_token(a->token);
    a->dir = attempt_dir(y, a->job, a->n);
    take_size(a, j, t);
    j->attempt = a;
    j->row.attempt = a->n;
    j->row.state = JOB_STARTING;
    j->progress = (struct progress_seen){0};
    j->usage = (struct usage_seen){0};
    struct attempt_row row = make_row(y, a);
    if (store_attempt_add(y->store, &row, &err) < 0)
        log_warning("job=%lld attempt=%u: %s", (long long)a->job, a->n, err.text);
    yard_touch(y, j);
    events_add(y, "job.started", a->job, size_object(a, NULL));
    turn_do(y, a, DEED_SPAWN);
}

void attempt_resize(struct yard *y, struct live_job *j, const struct task *t, const char *why)
{
    struct attempt *a = j->attempt;
    struct attempt before = *a;
    take_size(a, j, t);
    if (before.cpus == a->cpus && before.cpu_limit == a->cpu_limit &&
        before.cpu_weight == a->cpu_weight) {
        if (parts_of(j, &before) != parts_of(j, a))
            turn_do(y, a, DEED_SIZE);
        return;
    }
    attempt_touch(y, a);
    if (before.cpus != a->cpus)
        events_add(y, "job.resized", a->job,
                   size_object(a, j->by_hand == y->engine.decisions ? "hand" : why));
    turn_do(y, a, DEED_SIZE);
}

void attempt_pause(struct yard *y, struct live_job *j, const struct task *t, bool pause)
{
    struct attempt *a = j->attempt;
    a->paused = pause;
    j->progress.first_known = false; /* the pause is not worked */
    a->ran = t->run_time;
    a->since = clock_wall(&y->clock);
    if (!pause)
        take_size(a, j, t);
    attempt_touch(y, a);
    events_add(y, pause ? "job.paused" : "job.resumed", a->job,
               pause ? NULL : size_object(a, NULL));
    turn_do(y, a, DEED_FREEZE | (pause ? 0 : DEED_SIZE));
}

void attempt_stop(struct yard *y, struct live_job *j, enum stop_why why, usec_t grace)
{
    struct attempt *a = j->attempt;
    if (a->stop != STOP_NONE && why != STOP_CANCEL)
        return;
    a->stop = why;
    a->grace = grace < 0 ? j->terms.grace : grace;
    a->state = j->row.state = JOB_STOPPING;
    /* What is frozen cannot save itself. */
    if (a->paused) {
        a->paused = false;
        turn_do(y, a, DEED_FREEZE);
    }
    attempt_touch(y, a);
    yard_touch(y, j);
    if (why == STOP_PREEMPT)
        events_add(y, "job.preempted", a->job, size_object(a, NULL));
    turn_do(y, a, DEED_STOP);
}

void attempt_started(struct yard *y, struct attempt *a, usec_t at)
{
    struct live_job *j = yard_live(y, a->job);
    if (a->started || !j || j->attempt != a)
        return;
    a->started = at;
    if (!j->row.started)
        j->row.started = at;
    if (a->state == JOB_STARTING)
        a->state = j->row.state = JOB_RUNNING;
    attempt_touch(y, a);
    yard_touch(y, j);
    yard_settle(y, j);
}

/* ---- the end ------------------------------------------------------------- */

/* The job ran to its last step: then an end with code 0 is the end, even if it was
 * asked to stop meanwhile. */
static bool is_complete(const struct live_job *j)
{
    const struct progress_seen *p = &j->progress;
    return p->known && p->total > 0 && p->step >= p->total;
}

/* Back into the queue. The engine has the task running, stopping or paused. */
static void queue_again(struct yard *y, struct live_job *j, bool failed, const char *reason)
{
    struct err err;
    const struct task *t = yard_task(y, j);
    struct event event = {.kind = t && t->phase == TASK_STOPPING ? EVENT_STOPPED : EVENT_FAILED,
                          .task = j->task};
    if (t && yard_step(y, &event, &err) < 0)
        log_warning("job=%lld requeue: %s", (long long)j->row.id, err.text);
    j->row.state = j->blocks & BLOCK_HOLD ? JOB_HELD : JOB_QUEUED;
    free((char *)j->row.reason);
    j->row.reason = xstrdup(reason);
    if (failed) {
        unsigned doublings = j->row.failures - 1 < 16 ? j->row.failures - 1 : 16;
        j->row.eligible = clock_wall(&y->clock) + (j->terms.backoff << doublings);
        events_add(y, "job.retried", j->row.id,
                   json_pack("{s:s, s:I, s:f}", "reason", reason, "failures",
                             (json_int_t)j->row.failures, "eligible",
                             time_seconds(j->row.eligible)));
    }
    yard_touch(y, j);
    yard_offer(y, j);
    yard_settle(y, j);
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

/* What becomes of the job. `stop` is why its attempt was stopped, if that was heard
 * by the attempt before it ended. */
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
    } else if (end->timeout) {
        yard_end(y, j, JOB_TIMEOUT, end->code, *reason ? reason : "it ran into its time limit");
    } else if (stop == STOP_PREEMPT && !(end->code == 0 && is_complete(j))) {
        queue_again(y, j, false, "preempted");
    } else if (end->void_) {
        queue_again(y, j, false, "it was not started, because the server ended before");
    } else if (end->lost) {
        if (j->terms.requeue)
            queue_again(y, j, false, reason);
        else
            fail_or_retry(y, j, end, reason);
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
    if (stop != STOP_NONE && stop != STOP_TIMEOUT)
        return JOB_CANCELLED;
    return end->timeout              ? JOB_TIMEOUT
           : end->lost || end->void_ ? JOB_LOST
           : end->code == 0          ? JOB_DONE
                                     : JOB_FAILED;
}

void attempt_over(struct yard *y, struct attempt *a, const struct ending *end)
{
    struct live_job *j = yard_live(y, a->job);
    if (!j || j->attempt != a)
        return;
    bool heard = *end->stop || end->lost || end->void_ || !end->started;
    enum stop_why stop = heard ? a->stop : STOP_NONE;
    if (end->started)
        attempt_started(y, a, end->started);
    a->state = state_of(end, stop);
    a->ended = end->at;
    a->code = end->code;
    a->signal = end->signal;
    a->reason = xstrdup(stop == STOP_NONE || *end->reason ? end->reason : stop_why_name(stop));
    a->cpu_seconds = end->cpu_seconds;
    a->memory_max_mb = end->memory_max_mb;
    attempt_touch(y, a);
    attempt_shrunk(y, a);
    j->attempt = NULL;
    VEC_PUSH(&y->leaving, a);
    turn_do(y, a, DEED_CLEAN | DEED_ACK);
    log_info("job=%lld attempt=%u ended code=%d signal=%d%s%s", (long long)a->job, a->n, a->code,
             a->signal, *a->reason ? " reason=" : "", a->reason);
    settle_job(y, j, end, stop);
}

int attempt_over_text(struct yard *y, struct attempt *a, const char *text, struct err *err)
{
    json_error_t bad;
    json_t *o = json_loads(text, 0, &bad);
    json_t *usage = json_object_get(o, "usage");
    const char *stop = json_string_value(json_object_get(o, "stop"));
    const char *reason = json_string_value(json_object_get(o, "reason"));
    if (!json_is_integer(json_object_get(o, "code"))) {
        json_decref(o);
        return err_set(err, ERR_INVALID, "exit record: no code");
    }
    struct ending end = {
        .at = json_integer_value(json_object_get(o, "at_us")),
        .started = json_integer_value(json_object_get(o, "started_us")),
        .code = (int)json_integer_value(json_object_get(o, "code")),
        .signal = (int)json_integer_value(json_object_get(o, "signal")),
        .oom = json_is_true(json_object_get(o, "oom")),
        .timeout = json_is_true(json_object_get(o, "timeout")),
        .stop = stop ? stop : "",
        .reason = reason ? reason : "",
        .cpu_seconds = json_number_value(json_object_get(usage, "cpu_us")) / 1e6,
        .memory_max_mb = json_number_value(json_object_get(usage, "memory_peak_bytes")) / 1048576,
    };
    attempt_over(y, a, &end);
    json_decref(o);
    return 0;
}
