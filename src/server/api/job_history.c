/* Owns the history in a job's object: its dependencies, its attempts and its sizes. */
#include "server/api/job_history.h"

#include <string.h>

#include "base/str.h"
#include "server/api/parts.h"
#include "server/jobs/log_copy.h"
#include "store/attempts.h"
#include "store/deps.h"
#include "store/events.h"
#include "store/job_state.h"
#include "wire/spec_lists.h"

enum { SIZES_SHOWN = 200 };

/* ---- dependencies ---------------------------------------------------------- */

struct dep_view {
    const char *kind;
    int64_t job;
};

static const struct api_member dep_members[] = {
    API_STRING(dep_view, kind, "after, afterok, afternotok, afterany or singleton"),
    API_INTEGER_OR_NULL(dep_view, job, "Id of the job; null for singleton"),
    {0},
};

static const struct api_schema dep_schema = {"Dependency", .members = dep_members};

static int add_dep(void *ctx, int64_t job, int kind, int64_t on, struct err *err)
{
    struct dep_view v = {spec_dep_name((enum spec_dep_kind)kind), on ? on : API_NULL};
    (void)job;
    (void)err;
    json_array_append_new(ctx, api_print(&dep_schema, &v));
    return 0;
}

/* ---- attempts -------------------------------------------------------------- */

struct attempt_view {
    int64_t n;
    const char *state, *node;
    double cpus, created, started, ended;
    int64_t code, signal;
    const char *reason, *error, *left_running, *stop;
    int64_t stopped_by;
    double lost_s, cpu_s, memory_max_mb;
    int64_t log_bytes;
};

static const struct api_member attempt_members[] = {
    API_INTEGER(attempt_view, n, "Number, counted from 1"),
    API_WORD(attempt_view, state, "JobState", "State of the attempt"),
    API_STRING_OR_NULL(attempt_view, node, "Node that it ran on"),
    API_NUMBER(attempt_view, cpus, "CPUs at its last size"),
    API_NUMBER_OR_NULL(attempt_view, created, "When the policy decided to start it"),
    API_NUMBER_OR_NULL(attempt_view, started, "When the command started"),
    API_NUMBER_OR_NULL(attempt_view, ended, "When it ended"),
    API_INTEGER_OR_NULL(attempt_view, code, "Exit code"),
    API_INTEGER_OR_NULL(attempt_view, signal, "Signal that ended it"),
    API_STRING(attempt_view, reason, "Why it ended"),
    API_STRING_OR_NULL(attempt_view, stop,
                       "Why it was stopped: preempt, cancel, requeue, move, timeout, shutdown, "
                       "diverged or early; null = it was not"),
    API_INTEGER_OR_NULL(attempt_view, stopped_by, "Job that it made room for"),
    API_NUMBER_OR_NULL(attempt_view, lost_s,
                       "Running time that a preemption lost, in seconds; null = none or unknown"),
    API_STRING_OR_NULL(attempt_view, error, "The line of its output that tells why it failed"),
    API_STRING_OR_NULL(attempt_view, left_running,
                       "Processes that its command left running, and that were ended"),
    API_NUMBER_OR_NULL(attempt_view, cpu_s, "CPU time, in seconds"),
    API_NUMBER_OR_NULL(attempt_view, memory_max_mb, "Peak memory"),
    API_INTEGER(attempt_view, log_bytes, "Bytes logged; the oldest may have been removed"),
    {0},
};

static const struct api_schema attempt_schema = {"Attempt", .members = attempt_members};

struct attempt_list {
    struct yard *y;
    json_t *list;
};

/* The usage of a running attempt is in memory, not in its row. */
static void fill_usage(struct attempt_view *v, const struct yard *y, const struct attempt_row *row)
{
    const struct live_job *j = yard_live(y, row->job);
    bool over = job_state_over(row->state);
    v->cpu_s = over ? row->cpu_seconds : NAN;
    v->memory_max_mb = over ? row->memory_max_mb : NAN;
    if (!over && j && j->attempt && j->attempt->n == row->n && j->usage.known)
        v->cpu_s = j->usage.cpu_s;
}

static int add_attempt(void *ctx, const struct attempt_row *row, struct err *err)
{
    struct attempt_list *l = ctx;
    bool over = job_state_over(row->state);
    struct attempt_view v = {
        .n = row->n,
        .state = job_state_name(row->state),
        .node = row->node,
        .cpus = api_units(row->cpus),
        .created = api_seconds(row->created),
        .started = api_seconds(row->started),
        .ended = api_seconds(row->ended),
        .code = over && row->code >= 0 ? row->code : API_NULL,
        .signal = over && row->signal ? row->signal : API_NULL,
        .reason = row->reason,
        .stop = row->stop,
        .stopped_by = row->stopped_by ? row->stopped_by : API_NULL,
        .lost_s = row->lost < 0 ? NAN : time_seconds(row->lost),
        .error = row->error,
        .left_running = row->left_running,
        .log_bytes = log_copy_bytes(l->y, row->job, row->n),
    };
    (void)err;
    fill_usage(&v, l->y, row);
    json_array_append_new(l->list, api_print(&attempt_schema, &v));
    return 0;
}

/* ---- sizes ----------------------------------------------------------------- */

struct size_view {
    double at, cpus, gpus;
    const char *why;
};

static const struct api_member size_members[] = {
    API_NUMBER_OR_NULL(size_view, at, "When the size changed"),
    API_NUMBER(size_view, cpus, "CPUs from then on"),
    API_NUMBER(size_view, gpus, "GPUs from then on"),
    API_STRING(size_view, why,
               "start, resize, pause, resume, stop, fail or end, the policy that did it, and for "
               "which job"),
    {0},
};

static const struct api_schema size_schema = {"SizeChange", .members = size_members};

/* Events that change a job's size, and the words for them. */
static const struct {
    const char *kind, *why;
    bool holds; /* the job holds CPUs after it: the event's `cpus` */
} size_events[] = {
    {"job.started", "start", true},   {"job.resized", "resize", true},
    {"job.resumed", "resume", true},  {"job.paused", "pause", false},
    {"job.preempted", "stop", false}, {"job.requeued", "stop", false},
    {"job.retried", "fail", false},   {"job.ended", "end", false},
};

/* Events come newest first. */
static int add_size(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                    const char *text, struct err *err)
{
    json_t *newest_first = ctx;
    struct str why = {0};
    size_t i = 0;
    (void)seq;
    (void)job;
    (void)err;
    while (i < COUNT_OF(size_events) && strcmp(size_events[i].kind, kind) != 0)
        i++;
    if (i == COUNT_OF(size_events))
        return 0;
    json_auto_t *event = json_loads(text, 0, NULL);
    const char *by = json_string_value(json_object_get(event, "why"));
    json_int_t taker = json_integer_value(json_object_get(event, "by"));
    double cpus = json_number_value(json_object_get(event, "cpus"));
    double gpus = json_number_value(json_object_get(event, "gpus"));
    str_addf(&why, "%s%s%s", size_events[i].why, by ? " by " : "", by ? by : "");
    if (taker)
        str_addf(&why, ", for job %lld", (long long)taker);
    bool holds = size_events[i].holds;
    struct size_view v = {api_seconds(at), holds ? cpus : 0, holds ? gpus : 0, why.at};
    json_array_append_new(newest_first, api_print(&size_schema, &v));
    str_done(&why);
    return json_array_size(newest_first) == SIZES_SHOWN;
}

static json_t *reversed(const json_t *list)
{
    json_t *out = json_array();
    for (size_t i = json_array_size(list); i-- > 0;)
        json_array_append(out, json_array_get(list, i));
    return out;
}

int job_history_read(struct yard *y, int64_t job, json_t **deps, json_t **attempts, json_t **sizes,
                     struct err *err)
{
    json_auto_t *dep_list = json_array(), *attempt_list = json_array(), *size_list = json_array();
    struct attempt_list a = {y, attempt_list};
    if (store_dep_get(y->store, job, add_dep, dep_list, err) < 0 ||
        store_attempt_list(y->store, job, add_attempt, &a, err) < 0 ||
        store_event_latest(y->store, job, 10 * SIZES_SHOWN, add_size, size_list, err) < 0)
        return -1;
    *deps = json_incref(dep_list);
    *attempts = json_incref(attempt_list);
    *sizes = reversed(size_list);
    return 0;
}

static const struct api_schema *const schemas[] = {&dep_schema, &attempt_schema, &size_schema,
                                                   NULL};

const struct api_part api_part_job_history = {.schemas = schemas};
