/* Owns the JSON object of a job: a struct with the values, and a table of its members. A live
 * job in memory overrides its row, because it is newer within a turn. */
#include "server/api/job_view.h"

#include "base/str.h"
#include "server/api/growth.h"
#include "server/api/job_history.h"
#include "server/api/job_parameters.h"
#include "server/api/parts.h"
#include "server/jobs/attempts.h"
#include "server/jobs/eligible.h"
#include "server/jobs/gang.h"
#include "server/jobs/metric_list.h"
#include "server/jobs/past.h"
#include "server/jobs/reports.h"
#include "server/jobs/standing.h"
#include "server/nodes.h"
#include "store/jobs.h"
#include "wire/notice.h"
#include "wire/spec_json.h"

/* ---- progress and usage ---------------------------------------------------- */

struct progress_view {
    double step, total, fraction, epoch, epochs, loss;
    const char *metric;
    json_t *metrics;
    double value, rate, remaining_s, expected_end, expected_end_low, expected_end_high, past_error;
    const char *source, *total_from, *diverged;
    bool weak;
    double at;
};

static const struct api_member progress_members[] = {
    API_NUMBER_OR_NULL(progress_view, step, "Steps done"),
    API_NUMBER_OR_NULL(progress_view, total, "Steps in total"),
    API_NUMBER_OR_NULL(progress_view, fraction, "Part of the work that is done, from 0 to 1"),
    API_NUMBER_OR_NULL(progress_view, epoch, "Current epoch"),
    API_NUMBER_OR_NULL(progress_view, epochs, "Epochs in total"),
    API_NUMBER_OR_NULL(progress_view, loss, "Last loss"),
    API_STRING_OR_NULL(progress_view, metric, "Name of the metric that the job reports"),
    API_NUMBER_OR_NULL(progress_view, value, "Last value of the metric"),
    API_JSON(progress_view, metrics, "Metrics|null",
             "Last values of everything that it reports by name; null = only the metric"),
    API_NUMBER_OR_NULL(progress_view, rate, "Steps per second"),
    API_NUMBER_OR_NULL(progress_view, remaining_s, "Time left on its current size, in seconds"),
    API_NUMBER_OR_NULL(progress_view, expected_end, "When it ends if it keeps its size"),
    API_NUMBER_OR_NULL(progress_view, expected_end_low, "10th percentile of the expected end"),
    API_NUMBER_OR_NULL(progress_view, expected_end_high, "90th percentile of the expected end"),
    API_NUMBER_OR_NULL(
        progress_view, past_error,
        "Mean error of such estimates for finished jobs of its category; 0.1 = 10 %"),
    API_STRING_OR_NULL(progress_view, source, "Format in which the progress was found"),
    API_STRING_OR_NULL(progress_view, total_from,
                       "What told the total: \"output\", \"--epochs 14\", \"earlier runs\""),
    API_STRING_OR_NULL(progress_view, diverged,
                       "The last loss, if it was not a number: nan, inf or -inf"),
    API_BOOLEAN(progress_view, weak,
                "Steps and total may not be those of the training; nothing is decided by them"),
    API_NUMBER_OR_NULL(progress_view, at, "When it was reported"),
    {0},
};

static const struct api_member metric_members[] = {API_MEMBER("", "number", ""), {0}};
static const struct api_schema metrics_schema = {"Metrics", API_MAP, .members = metric_members};

static const struct api_schema progress_schema = {"Progress", .members = progress_members};

static const struct api_member usage_members[] = {
    API_NUMBER_OR_NULL(usage_seen, cpu_s, "CPU time of this attempt, in seconds"),
    API_NUMBER_OR_NULL(usage_seen, cpus, "CPUs in use between the last two samples"),
    API_NUMBER_OR_NULL(usage_seen, memory_mb, "Memory in use"),
    API_NUMBER_OR_NULL(usage_seen, block_bytes, "Bytes read from and written to disks"),
    API_NUMBER_OR_NULL(usage_seen, net_bytes, "Bytes received and sent"),
    API_INTEGER(usage_seen, processes, "Processes; 0 = not known"),
    API_INTEGER(usage_seen, threads, "Threads of all processes; 0 = not known"),
    API_NUMBER_OR_NULL(usage_seen, throttled_s, "Time that its CPU limit kept it from running"),
    {0},
};

static const struct api_schema usage_schema = {"Usage", .members = usage_members};

static double fraction_of(double part, double all)
{
    return all > 0 ? fmin(fmax(part / all, 0), 1) : NAN;
}

/* By steps if the job reports them, otherwise by epochs. */
static double done_fraction(const struct job_row *row)
{
    double steps = fraction_of(row->step, row->total);
    return isfinite(steps) ? steps : fraction_of(row->epoch, row->epochs);
}

/* A job that does not report how far it is, but whose length is known from an earlier run. */
static void fill_past(struct progress_view *v, const struct yard *y, const struct live_job *j)
{
    const struct task *t = j && j->attempt ? yard_task(y, j) : NULL;
    usec_t now = clock_now(&y->clock);
    double done = t ? task_done(t, now) : NAN, work = t ? past_work(j, done) : NAN;
    if (isfinite(v->fraction) || !t || isnan(work) || !(t->rate > 0))
        return;
    v->fraction = done / work;
    v->remaining_s = (work - done) / t->rate / USEC_PER_SEC;
    v->at = time_seconds(clock_wall(&y->clock));
    v->expected_end = v->at + v->remaining_s;
    v->total_from = "earlier runs, by time";
}

/* A job whose end is told by the curve of its metric. */
static void fill_curve(struct progress_view *v, const struct live_job *j)
{
    struct range end;
    enum steps_basis basis = estimate_end(j, &end);
    if (basis != STEPS_TARGET && basis != STEPS_SETTLED)
        return;
    v->fraction = fraction_of(v->step, end.mid);
    v->weak = false;
    v->total_from = "the curve of its metric";
}

/* NULL unless a live job has reported more than one number. */
static json_t *view_metrics(const struct live_job *j)
{
    AUTO_FREE char *text = j ? metric_list_print(j) : NULL;
    return text ? json_loads(text, 0, NULL) : NULL;
}

/* NULL if the job has reported nothing. */
static json_t *view_progress(const struct yard *y, const struct live_job *j,
                             const struct job_row *row)
{
    bool known = j && j->progress.known;
    struct range left = {NAN, NAN, NAN};
    double now = time_seconds(clock_wall(&y->clock));
    if (known)
        (void)estimate_left(y, j, &left);
    if (isnan(row->step) && isnan(row->metric) && !known && !(j && j->past.known && j->attempt))
        return NULL;
    struct progress_view v = {
        .step = row->step,
        .total = row->total,
        .fraction = done_fraction(row),
        .epoch = row->epoch,
        .epochs = row->epochs,
        .loss = row->loss,
        .metric = row->metric_name,
        .value = row->metric,
        .metrics = view_metrics(j),
        .rate = known && j->attempt ? estimate_rate(y, j) : NAN,
        .remaining_s = left.mid,
        .expected_end = now + left.mid,
        .expected_end_low = now + left.low,
        .expected_end_high = now + left.high,
        .past_error = j && j->estimate.prior.score.n ? j->estimate.prior.score.error : NAN,
        .source = row->progress_source,
        .total_from = row->total_from,
        .diverged = row->diverged,
        .weak = row->weak,
        .at = api_seconds(row->progress_at),
    };
    if (known && j->attempt)
        fill_curve(&v, j);
    fill_past(&v, y, j);
    return api_print(&progress_schema, &v);
}

/* ---- the members ----------------------------------------------------------- */

struct array_view {
    int64_t job, index;
};

static const struct api_member array_members[] = {
    API_INTEGER(array_view, job, "Id of the array's first job"),
    API_INTEGER(array_view, index, "Index of this job"),
    {0},
};

static const struct api_schema array_schema = {"ArrayPlace", .members = array_members};

static const struct api_member parameter_members[] = {API_MEMBER("", "string", ""), {0}};
static const struct api_schema parameter_schema = {"JobParameters", API_MAP,
                                                   .members = parameter_members};

static const struct api_member state_words[] = {API_MEMBER("", JOB_STATE_WORDS, ""), {0}};
static const struct api_schema state_schema = {"JobState", API_WORDS, .members = state_words};

struct part_view {
    const char *node, *state;
    double cpus, gpus;
};

static const struct api_member part_members[] = {
    API_STRING(part_view, node, "Node that it runs on"),
    API_STRING(part_view, state, "State of this part"),
    API_NUMBER(part_view, cpus, "CPUs that it holds there"),
    API_NUMBER(part_view, gpus, "GPUs that it holds there"),
    {0},
};

static const struct api_schema part_schema = {"Part", .members = part_members};

struct job_view {
    json_t *parts;
    int64_t id;
    const char *name, *user, *state;
    bool paused;
    int64_t priority;
    double submitted, started, ended;
    int64_t attempt, code;
    const char *reason, *error;
    double cpus, cpus_min, cpus_max, gpus, gpus_min, gpus_max;
    int64_t memory_mb;
    bool memory_enforced;
    const char *node;
    int64_t threads;
    const char *cpuset;
    double deadline, time_limit_s, eligible;
    json_t *array, *fold;
    const char *group;
    json_t *parameters, *waits_for, *progress, *usage;
    double wait_s, run_s;
    json_t *command;
};

static const struct api_member job_members[] = {
    API_INTEGER(job_view, id, "Number of the job"),
    API_STRING(job_view, name, "Name; several jobs can have the same"),
    API_STRING(job_view, user, "Owner"),
    API_WORD(job_view, state, "JobState", "State"),
    API_BOOLEAN(job_view, paused, "Whether it is frozen"),
    API_INTEGER(job_view, priority, "Jobs with a higher priority go first"),
    API_NUMBER(job_view, submitted, "When it was submitted"),
    API_NUMBER_OR_NULL(job_view, started, "When it first started"),
    API_NUMBER_OR_NULL(job_view, ended, "When it ended"),
    API_INTEGER(job_view, attempt, "Number of the last attempt; 0 = none yet"),
    API_INTEGER_OR_NULL(job_view, code, "Exit code; 128 + N after signal N"),
    API_STRING(job_view, reason, "Why it ended, or was requeued"),
    API_STRING_OR_NULL(job_view, error, "The line of its output that tells why it failed"),
    API_NUMBER(job_view, cpus, "CPUs that it holds now"),
    API_NUMBER(job_view, cpus_min, "Fewest CPUs that it may hold"),
    API_NUMBER(job_view, cpus_max, "Most CPUs that it may hold"),
    API_NUMBER(job_view, gpus, "GPUs that it holds now"),
    API_NUMBER(job_view, gpus_min, "Fewest GPUs that it may hold"),
    API_NUMBER(job_view, gpus_max, "Most GPUs that it may hold"),
    API_INTEGER_OR_NULL(job_view, memory_mb, "Memory limit; null = none"),
    API_BOOLEAN(job_view, memory_enforced,
                "Whether the node, or before its start any node, enforces memory limits"),
    API_STRING_OR_NULL(job_view, node, "Node that it runs on"),
    API_INTEGER_OR_NULL(job_view, threads, "Threads of its last parallel region"),
    API_STRING_OR_NULL(job_view, cpuset, "CPUs that it may use, as in 0-1,4"),
    API_NUMBER_OR_NULL(job_view, deadline, "When it should be finished"),
    API_NUMBER_OR_NULL(job_view, time_limit_s, "How long it may run, in seconds"),
    API_NUMBER_OR_NULL(job_view, eligible, "Earliest time at which it may start"),
    API_JSON(job_view, parts, "Part[]|null", "On several nodes: its part on each, in their order"),
    API_JSON(job_view, array, "ArrayPlace|null", "Its place in an array"),
    API_JSON(job_view, fold, "?ArrayFold", "In a folded list: the array that it stands for"),
    API_STRING_OR_NULL(job_view, group, "Group that it is compared with"),
    API_JSON(job_view, parameters, "JobParameters|null", "Its parameters in a sweep"),
    API_JSON(job_view, waits_for, "string[]", "Why it is not in the queue"),
    API_JSON(job_view, progress, "Progress|null", "What it last reported"),
    API_JSON(job_view, usage, "Usage|null", "What it uses"),
    API_NUMBER(job_view, wait_s, "Time in the queue so far, in seconds"),
    API_NUMBER(job_view, run_s, "Time running so far in all attempts, in seconds"),
    API_JSON(job_view, command, "string[]", "Command and arguments"),
    {0},
};

static const struct api_schema job_schema = {"Job", .members = job_members};

/* Measurements of growth in a job's object. */
enum { GROWTH_SHOWN = 10 };

struct job_detail {
    struct job_view brief;
    json_t *spec;
    int64_t failures;
    json_t *standing, *growth, *deps, *attempts, *sizes;
    const char *log;
};

static const struct api_member detail_members[] = {
    API_JSON(job_detail, spec, "object",
             "The request as it was submitted; of variables only the names, unless asked for"),
    API_INTEGER(job_detail, failures, "Attempts that failed on their own"),
    API_JSON(job_detail, standing, "string[]", "How the active policies rank it, in sentences"),
    API_JSON(job_detail, growth, "GrowthPoint[]",
             "The last 10 measurements of its growth efficiency, oldest first"),
    API_JSON(job_detail, deps, "Dependency[]", "Jobs that it waits for or waited for"),
    API_JSON(job_detail, attempts, "Attempt[]", "Its attempts, oldest first"),
    API_JSON(job_detail, sizes, "SizeChange[]", "The last 200 changes of its size"),
    API_STRING_OR_NULL(job_detail, log, "Path of the last attempt's log"),
    {0},
};

static const struct api_schema detail_schema = {"JobDetail", .base = &job_schema,
                                                .members = detail_members};

static const struct api_schema *const schemas[] = {
    &state_schema, &array_schema, &parameter_schema, &metrics_schema, &progress_schema,
    &usage_schema, &part_schema,  &job_schema,       &detail_schema,  NULL};

const struct api_part api_part_job_view = {.schemas = schemas};

/* ---- from a row and a live job --------------------------------------------- */

static json_t *view_parts(const struct yard *y, const struct attempt *head)
{
    json_t *list = json_array();
    for (const struct attempt *a = head; a; a = a->next_part) {
        struct part_view v = {.node = y->cluster.nodes[a->node].name,
                              .state = job_state_name(a->state),
                              .cpus = a->paused ? 0 : api_units(a->cpus),
                              .gpus = a->paused ? 0 : api_units(a->gpus)};
        json_array_append_new(list, api_print(&part_schema, &v));
    }
    return list;
}

static void fill_place(struct job_view *v, const struct yard *y, const struct attempt *a)
{
    v->threads = API_NULL;
    v->memory_enforced = nodes_limit_memory(y, a ? a->node : NODES_ANY);
    if (!a)
        return;
    v->paused = a->paused;
    v->cpus = a->paused ? 0 : api_units(gang_cpus(a));
    v->gpus = a->paused ? 0 : api_units(gang_gpus(a));
    v->node = y->cluster.nodes[a->node].name;
    v->threads = a->threads ? a->threads : API_NULL;
    v->cpuset = attempt_cpuset(y, a);
    if (a->next_part)
        v->parts = view_parts(y, a);
}

/* The engine counts the time of jobs that it knows. */
static void fill_times(struct job_view *v, const struct yard *y, const struct live_job *j,
                       const struct job_row *row)
{
    const struct task *t = j ? yard_task(y, j) : NULL;
    usec_t now = clock_now(&y->clock), wait = row->wait_time, run = row->run_time;
    if (t) {
        wait = task_wait_time(t, now);
        run = task_run_time(t, now);
    }
    v->wait_s = time_seconds(wait);
    v->run_s = time_seconds(run);
}

static void add_wait(void *ctx, const char *text)
{
    json_array_append_new(ctx, json_string(text));
}

static void fill_row(struct job_view *v, const struct job_row *row)
{
    struct array_view array = {row->array, row->array_index};
    json_t *command = json_loads(row->command ? row->command : "", 0, NULL);
    *v = (struct job_view){
        .id = row->id,
        .name = row->name,
        .user = row->user,
        .state = job_state_name(row->state),
        .priority = row->priority,
        .submitted = api_seconds(row->submitted),
        .started = api_seconds(row->started),
        .ended = api_seconds(row->ended),
        .attempt = row->attempt,
        .code = row->code < 0 ? API_NULL : row->code,
        .reason = row->reason,
        .error = row->error,
        .cpus_min = api_units(row->cpus_min),
        .cpus_max = api_units(row->cpus_max),
        .gpus_min = api_units(row->gpus_min),
        .gpus_max = api_units(row->gpus_max),
        .memory_mb = row->memory_mb ? row->memory_mb : API_NULL,
        .deadline = api_seconds(row->deadline),
        .time_limit_s = api_seconds(row->time_limit),
        .eligible = api_seconds(row->eligible),
        .array = row->array ? api_print(&array_schema, &array) : NULL,
        .group = row->group_name,
        .parameters = job_parameters(row, command),
        .command = command ? command : json_array(),
    };
}

/* `row` is the newest version. */
static void fill_view(struct job_view *v, const struct yard *y, const struct live_job *j,
                      const struct job_row *row)
{
    fill_row(v, row);
    fill_place(v, y, j ? j->attempt : NULL);
    fill_times(v, y, j, row);
    v->waits_for = json_array();
    if (j)
        eligible_waits_for(y, j, add_wait, v->waits_for);
    v->progress = view_progress(y, j, row);
    if (j && j->attempt && j->usage.known)
        v->usage = api_print(&usage_schema, &j->usage);
}

static struct job_row newest_row(const struct live_job *j, const struct job_row *stored)
{
    struct job_row row = j ? j->row : *stored;
    row.command = stored->command;
    row.sweep = stored->sweep;
    return row;
}

json_t *job_view_brief(struct yard *y, const struct job_row *stored)
{
    const struct live_job *j = yard_live(y, stored->id);
    struct job_row row = newest_row(j, stored);
    struct job_view v;
    fill_view(&v, y, j, &row);
    return api_print(&job_schema, &v);
}

/* Leaves of the targets of notifications what is not secret. */
static void hide_targets(json_t *request)
{
    json_t *list = json_object_get(request, "notify"), *shown = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        struct str text = {0};
        notice_target_show(json_string_value(json_array_get(list, i)), &text);
        json_array_append_new(shown, json_string(text.at ? text.at : ""));
        str_done(&text);
    }
    if (list)
        json_object_set(request, "notify", shown);
    json_decref(shown);
}

/* Replaces the object of variables by the list of their names. */
static void hide_values(json_t *request)
{
    json_t *names = json_array();
    const char *name;
    json_t *value;
    json_object_foreach(json_object_get(request, "env"), name, value)
        json_array_append_new(names, json_string(name));
    if (json_object_get(request, "env"))
        json_object_set(request, "env", names);
    json_decref(names);
}

/* The request as it was submitted. */
static int read_request(struct yard *y, const struct live_job *j, const struct job_row *row,
                        json_t **out, struct err *err)
{
    AUTO_FREE char *text = NULL;
    if (!j && store_request_get(y->store, row->request, &text, err) < 0)
        return -1;
    json_t *request = j ? submission_to_json(&j->submission->spec) : json_loads(text, 0, NULL);
    if (!request)
        return err_set(err, ERR_INTERNAL, "job %lld: its stored request is not valid JSON",
                       (long long)row->id);
    *out = request;
    return 0;
}

struct show {
    struct yard *y;
    bool values; /* of its variables */
    json_t *job;
};

static int show_row(void *ctx, const struct job_row *stored, struct err *err)
{
    struct show *s = ctx;
    const struct live_job *j = yard_live(s->y, stored->id);
    struct job_row row = newest_row(j, stored);
    struct job_detail d = {.failures = row.failures};
    json_auto_t *request = NULL;
    struct str log = {0};
    if (read_request(s->y, j, &row, &request, err) < 0 ||
        job_history_read(s->y, row.id, &d.deps, &d.attempts, &d.sizes, err) < 0 ||
        growth_list_read(s->y, row.id, GROWTH_SHOWN, &d.growth, err) < 0)
        return -1;
    if (!s->values) {
        hide_values(request);
        hide_targets(request);
    }
    AUTO_FREE char *dir = attempt_dir(s->y, row.id, row.attempt);
    if (row.attempt)
        str_addf(&log, "%s/log", dir);
    fill_view(&d.brief, s->y, j, &row);
    d.spec = json_incref(request);
    d.standing = j ? standing_list(s->y, j) : json_array();
    d.log = log.at;
    s->job = api_print(&detail_schema, &d);
    str_done(&log);
    return 0;
}

int job_view_show(struct yard *y, int64_t id, bool values, json_t **out, struct err *err)
{
    struct show s = {.y = y, .values = values};
    if (store_job_get(y->store, id, show_row, &s, err) < 0)
        return -1;
    *out = s.job;
    return 0;
}
