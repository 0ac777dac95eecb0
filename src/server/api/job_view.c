/* Owns the JSON object of a job. What the yard holds in memory goes before the row:
 * within a turn it is newer. */
#include "server/api/job_view.h"

#include <math.h>

#include "base/str.h"
#include "server/jobs/attempts.h"
#include "server/jobs/reports.h"
#include "server/jobs/standing.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "wire/spec_json.h"

json_t *job_view_number(double x)
{
    return isfinite(x) ? json_real(x) : json_null();
}

json_t *job_view_time(usec_t t)
{
    return t ? json_real(time_seconds(t)) : json_null();
}

json_t *job_view_text(const char *text)
{
    /* One that was cut may end within a character. */
    size_t n = text ? str_valid_utf8(text) : 0;
    return n ? json_stringn(text, n) : json_null();
}

static json_t *units(units_t n)
{
    return json_real((double)n / UNIT);
}

/* ---- what it asked for ----------------------------------------------------- */

static void add_terms(json_t *o, const struct job_row *row)
{
    json_t *command = json_loads(row->command ? row->command : "", 0, NULL);
    json_object_set_new(o, "cpus_min", units(row->cpus_min));
    json_object_set_new(o, "cpus_max", units(row->cpus_max));
    json_object_set_new(o, "gpus_min", units(row->gpus_min));
    json_object_set_new(o, "gpus_max", units(row->gpus_max));
    json_object_set_new(o, "memory_mb",
                        row->memory_mb ? json_integer(row->memory_mb) : json_null());
    json_object_set_new(o, "time_limit_s", job_view_time(row->time_limit));
    json_object_set_new(o, "command", command ? command : json_array());
}

/* ---- what it has and does -------------------------------------------------- */

/* The CPUs that it may use now; NULL when that is not known. */
static const char *cpuset_of(const struct yard *y, const struct attempt *a)
{
    struct runtime_attempt at = attempt_to_runtime(y, a);
    /* cppcheck-suppress returnDanglingLifetime ; the text is the runtime's */
    return y->config.runtime->cpuset(y->runtime, &at);
}

static void add_place(json_t *o, const struct yard *y, const struct live_job *j)
{
    const struct attempt *a = j ? j->attempt : NULL;
    bool paused = a && a->paused;
    json_object_set_new(o, "paused", json_boolean(paused));
    json_object_set_new(o, "cpus", units(a && !paused ? a->cpus : 0));
    json_object_set_new(o, "gpus", units(a && !paused ? a->gpus : 0));
    json_object_set_new(o, "node", job_view_text(a ? y->cluster.nodes[a->node].name : NULL));
    json_object_set_new(o, "threads", a && a->threads ? json_integer(a->threads) : json_null());
    json_object_set_new(o, "cpuset", job_view_text(a ? cpuset_of(y, a) : NULL));
}

static double fraction(double part, double all)
{
    return all > 0 ? fmin(fmax(part / all, 0), 1) : NAN;
}

/* By steps where it counts them, else by epochs. `left` is in seconds. */
static json_t *view_progress(const struct job_row *row, double left)
{
    double done = fraction(row->step, row->total), rate = isnan(left) ? NAN : row->rate;
    if (!(rate > 0) && left > 0)
        rate = fmax(row->total - row->step, 0) / left;
    if (!isfinite(done))
        done = fraction(row->epoch, row->epochs);
    json_t *o = json_object();
    json_object_set_new(o, "step", job_view_number(row->step));
    json_object_set_new(o, "total", job_view_number(row->total));
    json_object_set_new(o, "fraction", job_view_number(done));
    json_object_set_new(o, "epoch", job_view_number(row->epoch));
    json_object_set_new(o, "epochs", job_view_number(row->epochs));
    json_object_set_new(o, "loss", job_view_number(row->loss));
    json_object_set_new(o, "metric", job_view_text(row->metric_name));
    json_object_set_new(o, "value", job_view_number(row->metric));
    json_object_set_new(o, "rate", job_view_number(rate));
    json_object_set_new(o, "remaining_s", job_view_number(left));
    json_object_set_new(o, "source", job_view_text(row->progress_source));
    json_object_set_new(o, "at", job_view_time(row->progress_at));
    return o;
}

static json_t *progress_of(const struct yard *y, const struct live_job *j,
                           const struct job_row *row)
{
    if (isnan(row->step) && isnan(row->metric) && !(j && j->progress.known))
        return json_null();
    return view_progress(row, j && j->progress.known ? report_remaining(y, j) : NAN);
}

static json_t *usage_of(const struct live_job *j)
{
    if (!j || !j->attempt || !j->usage.known)
        return json_null();
    const struct usage_seen *u = &j->usage;
    json_t *o = json_object();
    json_object_set_new(o, "cpu_s", job_view_number(u->cpu_s));
    json_object_set_new(o, "cpus", job_view_number(u->cpus));
    json_object_set_new(o, "memory_mb", job_view_number(u->memory_mb));
    json_object_set_new(o, "block_bytes", job_view_number(u->block_bytes));
    json_object_set_new(o, "net_bytes", job_view_number(u->net_bytes));
    json_object_set_new(o, "pids", json_integer(u->pids));
    json_object_set_new(o, "throttled_s", job_view_number(u->throttled_s));
    return o;
}

/* The engine counts the time while it has the job. */
static void add_times(json_t *o, const struct yard *y, const struct live_job *j,
                      const struct job_row *row)
{
    const struct task *t = j ? yard_task(y, j) : NULL;
    usec_t now = clock_now(&y->clock), wait = row->wait_time, run = row->run_time;
    if (t) {
        wait = task_wait_time(t, now);
        run = task_run_time(t, now);
    }
    json_object_set_new(o, "wait_s", json_real(time_seconds(wait)));
    json_object_set_new(o, "run_s", json_real(time_seconds(run)));
}

static void add_wait(void *ctx, const char *text)
{
    json_array_append_new(ctx, json_string(text));
}

/* ---- the whole ------------------------------------------------------------- */

static json_t *view_row(const struct job_row *row)
{
    json_t *o = json_object();
    json_object_set_new(o, "id", json_integer(row->id));
    json_object_set_new(o, "name", json_string(row->name));
    json_object_set_new(o, "user", json_string(row->user));
    json_object_set_new(o, "state", json_string(job_state_name(row->state)));
    json_object_set_new(o, "priority", json_integer(row->priority));
    json_object_set_new(o, "submitted", job_view_time(row->submitted));
    json_object_set_new(o, "started", job_view_time(row->started));
    json_object_set_new(o, "ended", job_view_time(row->ended));
    json_object_set_new(o, "attempt", json_integer(row->attempt));
    json_object_set_new(o, "code", row->code < 0 ? json_null() : json_integer(row->code));
    json_object_set_new(o, "reason", json_string(row->reason ? row->reason : ""));
    json_object_set_new(o, "deadline", job_view_time(row->deadline));
    json_object_set_new(o, "eligible", job_view_time(row->eligible));
    json_object_set_new(o, "array",
                        row->array ? json_pack("{s:I, s:I}", "job", (json_int_t)row->array, "index",
                                               (json_int_t)row->array_index)
                                   : json_null());
    return o;
}

/* `row` is the newest that is known. */
static json_t *view(const struct yard *y, const struct live_job *j, const struct job_row *row)
{
    json_t *o = view_row(row), *waits = json_array();
    add_place(o, y, j);
    add_terms(o, row);
    if (j)
        yard_waits_for(y, j, add_wait, waits);
    json_object_set_new(o, "waits_for", waits);
    json_object_set_new(o, "progress", progress_of(y, j, row));
    json_object_set_new(o, "usage", usage_of(j));
    add_times(o, y, j, row);
    return o;
}

static struct job_row newest(const struct live_job *j, const struct job_row *stored)
{
    struct job_row row = j ? j->row : *stored;
    row.command = stored->command;
    return row;
}

json_t *job_view_brief(struct yard *y, const struct job_row *stored)
{
    const struct live_job *j = yard_live(y, stored->id);
    struct job_row row = newest(j, stored);
    return view(y, j, &row);
}

/* Its request, as it was submitted. */
static int add_request(struct yard *y, const struct live_job *j, const struct job_row *row,
                       json_t *o, struct err *err)
{
    AUTO_FREE char *text = NULL;
    json_t *request = j ? spec_to_json(&j->submission->spec) : NULL;
    if (!request && store_request_get(y->store, row->request, &text, err) < 0)
        return -1;
    if (!request)
        request = json_loads(text, 0, NULL);
    if (!request)
        return err_set(err, ERR_INTERNAL, "job %lld: its request cannot be read",
                       (long long)row->id);
    json_object_set_new(o, "spec", request);
    return 0;
}

struct show {
    struct yard *y;
    json_t *job;
};

static int show_row(void *ctx, const struct job_row *stored, struct err *err)
{
    struct show *s = ctx;
    const struct live_job *j = yard_live(s->y, stored->id);
    struct job_row row = newest(j, stored);
    s->job = view(s->y, j, &row);
    if (add_request(s->y, j, &row, s->job, err) < 0)
        return -1;
    json_object_set_new(s->job, "failures", json_integer(row.failures));
    json_object_set_new(s->job, "standing", j ? standing_list(s->y, j) : json_array());
    AUTO_FREE char *dir = row.attempt ? attempt_dir(s->y, row.id, row.attempt) : NULL;
    json_object_set_new(s->job, "log", dir ? json_sprintf("%s/log", dir) : json_null());
    return job_history_add(s->y, &row, s->job, err);
}

int job_view_show(struct yard *y, int64_t id, json_t **out, struct err *err)
{
    struct show s = {.y = y};
    if (store_job_get(y->store, id, show_row, &s, err) < 0) {
        json_decref(s.job);
        return -1;
    }
    *out = s.job;
    return 0;
}
