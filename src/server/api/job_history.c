/* Owns what a job's object tells of its past: what it waited for, its attempts, the
 * sizes that it had. */
#include <fcntl.h>
#include <math.h>
#include <string.h>

#include "conductor/logread.h"
#include "server/api/job_view.h"
#include "server/jobs/attempts.h"
#include "store/attempts.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "wire/spec_lists.h"

enum { SIZES_SHOWN = 200 };

/* ---- dependencies ---------------------------------------------------------- */

static int add_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    (void)job;
    (void)err;
    json_t *o = json_object();
    json_object_set_new(o, "kind", json_string(spec_dep_name((enum spec_dep_kind)kind)));
    json_object_set_new(o, "job", on ? json_integer(on) : json_null());
    json_array_append_new(ctx, o);
    return 0;
}

/* ---- attempts -------------------------------------------------------------- */

struct attempts_view {
    struct yard *y;
    json_t *list;
};

static int64_t log_bytes(const struct yard *y, int64_t job, uint32_t n)
{
    AUTO_FREE char *path = attempt_dir(y, job, n);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int64_t first = 0, end = 0;
    if (dir >= 0)
        (void)logread_span(dir, ATTEMPT_LOG_MAX, &first, &end, NULL);
    return end;
}

/* What one that goes on has used so far is in memory. */
static void add_usage(json_t *o, const struct yard *y, const struct attempt_row *row)
{
    const struct live_job *j = yard_live(y, row->job);
    bool over = job_state_over(row->state);
    double cpu_s = over ? row->cpu_seconds : NAN, memory = over ? row->memory_max_mb : NAN;
    if (!over && j && j->attempt && j->attempt->n == row->n && j->usage.known)
        cpu_s = j->usage.cpu_s;
    json_object_set_new(o, "cpu_s", job_view_number(cpu_s));
    json_object_set_new(o, "memory_max_mb", job_view_number(memory));
}

static int add_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct attempts_view *v = ctx;
    bool over = job_state_over(row->state);
    json_t *o = json_object();
    (void)err;
    json_object_set_new(o, "n", json_integer(row->n));
    json_object_set_new(o, "state", json_string(job_state_name(row->state)));
    json_object_set_new(o, "node", job_view_text(row->node));
    json_object_set_new(o, "cpus", json_real((double)row->cpus / UNIT));
    json_object_set_new(o, "created", job_view_time(row->created));
    json_object_set_new(o, "started", job_view_time(row->started));
    json_object_set_new(o, "ended", job_view_time(row->ended));
    json_object_set_new(o, "code", over && row->code >= 0 ? json_integer(row->code) : json_null());
    json_object_set_new(o, "signal", over && row->signal ? json_integer(row->signal) : json_null());
    json_object_set_new(o, "reason", json_string(row->reason));
    add_usage(o, v->y, row);
    json_object_set_new(o, "log_bytes", json_integer(log_bytes(v->y, row->job, row->n)));
    json_array_append_new(v->list, o);
    return 0;
}

/* ---- sizes ----------------------------------------------------------------- */

/* Events that change a job's size, and what they are called. */
static const struct {
    const char *kind, *why;
    bool holds; /* it has CPUs after that: as many as the event says */
} size_events[] = {
    {"job.started", "start", true},   {"job.resized", "resize", true},
    {"job.resumed", "resume", true},  {"job.paused", "pause", false},
    {"job.preempted", "stop", false}, {"job.requeued", "stop", false},
    {"job.retried", "fail", false},   {"job.ended", "end", false},
};

struct sizes {
    json_t *list; /* newest first */
};

static int add_size(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                    const char *text, struct err *err)
{
    struct sizes *s = ctx;
    size_t i = 0;
    (void)seq;
    (void)job;
    (void)err;
    while (i < COUNT_OF(size_events) && strcmp(size_events[i].kind, kind) != 0)
        i++;
    if (i == COUNT_OF(size_events))
        return 0;
    json_auto_t *event = json_loads(text, 0, NULL);
    const char *why = json_string_value(json_object_get(event, "why"));
    double cpus = json_number_value(json_object_get(event, "cpus"));
    json_t *o = json_object();
    json_object_set_new(o, "at", job_view_time(at));
    json_object_set_new(o, "cpus", json_real(size_events[i].holds ? cpus : 0));
    json_object_set_new(
        o, "why", json_sprintf("%s%s%s", size_events[i].why, why ? " by " : "", why ? why : ""));
    json_array_append_new(s->list, o);
    return json_array_size(s->list) == SIZES_SHOWN;
}

static json_t *reversed(const json_t *list)
{
    json_t *out = json_array();
    for (size_t i = json_array_size(list); i-- > 0;)
        json_array_append(out, json_array_get(list, i));
    return out;
}

int job_history_add(struct yard *y, const struct job_row *row, json_t *job, struct err *err)
{
    json_auto_t *deps = json_array(), *newest = json_array();
    struct attempts_view attempts = {y, json_array()};
    struct sizes sizes = {newest};
    json_object_set_new(job, "attempts", attempts.list);
    json_object_set(job, "deps", deps);
    if (store_dep_get(y->store, row->id, add_dep, deps, err) < 0 ||
        store_attempt_list(y->store, row->id, add_attempt, &attempts, err) < 0 ||
        store_event_latest(y->store, row->id, 10 * SIZES_SHOWN, add_size, &sizes, err) < 0)
        return -1;
    json_object_set_new(job, "sizes", reversed(newest));
    return 0;
}
