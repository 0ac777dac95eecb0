/* Owns the endpoints that show a job: the job itself, its samples, its explanation and its
 * nodes. */
#include <stdio.h>

#include "base/str.h"
#include "server/api/call.h"
#include "server/api/growth.h"
#include "server/api/job_view.h"
#include "server/api/parts.h"
#include "server/explain/explain.h"
#include "server/jobs/parts.h"
#include "store/jobs.h"
#include "store/samples.h"

/* ---- one job --------------------------------------------------------------- */

enum { SHOW_ENV };

static const struct api_query show_query[] = {
    [SHOW_ENV] = {"env", QUERY_FLAG,
                  .help =
                      "With the values of the variables that were submitted as `env`; only for the "
                      "job's user and admins"},
    {0},
};

static void show_job(const struct api_call *c)
{
    struct err err;
    json_t *job = NULL;
    if (c->query[SHOW_ENV].number && !api_owns_job(c))
        return;
    if (job_view_show(c->yard, c->job, c->query[SHOW_ENV].number, &job, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, job);
}

struct sample_view {
    int64_t attempt;
    double at, step, metric;
    json_t *metrics;
    double cpus, gpus, cpu_s, memory_mb, block_bytes, net_bytes;
};

static const struct api_member sample_members[] = {
    API_INTEGER(sample_view, attempt, "Number of the attempt"),
    API_NUMBER_OR_NULL(sample_view, at, "When it was taken"),
    API_NUMBER_OR_NULL(sample_view, step, "Steps done"),
    API_NUMBER_OR_NULL(sample_view, metric, "Value of the metric by which the job is judged"),
    API_JSON(sample_view, metrics, "Metrics|null",
             "Everything that it reports by name, at most 17 numbers; null = only the metric"),
    API_NUMBER_OR_NULL(sample_view, cpus, "CPUs held; null for a job with GPUs"),
    API_NUMBER_OR_NULL(sample_view, gpus, "GPUs held; null for a job without GPUs"),
    API_NUMBER_OR_NULL(sample_view, cpu_s, "CPU time of the attempt so far, in seconds"),
    API_NUMBER_OR_NULL(sample_view, memory_mb, "Memory in use"),
    API_NUMBER_OR_NULL(sample_view, block_bytes, "Bytes that the attempt has read and written"),
    API_NUMBER_OR_NULL(sample_view, net_bytes, "Bytes that the attempt has sent and received"),
    {0},
};

static const struct api_schema sample_schema = {"Sample", .members = sample_members};

static const struct api_member series_members[] = {
    API_MEMBER("job", "integer", "Id of the job"),
    API_MEMBER("samples", "Sample[]", "Oldest first"),
    API_MEMBER(
        "growth", "GrowthPoint[]",
        "Growth efficiency, whenever flowcon, target or specon has measured it; oldest first"),
    {0},
};

static const struct api_schema series_schema = {"ProgressSeries", .members = series_members};

struct samples {
    json_t *list;
    bool gpu; /* units are GPUs, not CPUs */
};

static int add_sample(void *ctx, uint32_t attempt, const struct sample_row *row, struct err *err)
{
    struct samples *s = ctx;
    double size = row->units / UNIT;
    struct sample_view v = {
        .attempt = attempt,
        .at = api_seconds(row->at),
        .step = row->step,
        .metric = row->metric,
        .metrics = json_loads(row->metrics ? row->metrics : "", 0, NULL),
        .cpus = s->gpu ? NAN : size,
        .gpus = s->gpu ? size : NAN,
        .cpu_s = row->cpu_time / (double)USEC_PER_SEC,
        .memory_mb = row->memory_mb,
        .block_bytes = row->block_bytes,
        .net_bytes = row->net_bytes,
    };
    (void)err;
    json_array_append_new(s->list, api_print(&sample_schema, &v));
    return 0;
}

static int read_kind(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    ((struct samples *)ctx)->gpu = row->gpus_max > 0;
    return 0;
}

static void show_progress(const struct api_call *c)
{
    struct samples s = {.list = json_array()};
    json_t *growth = NULL;
    struct err err;
    if (store_job_get(c->yard->store, c->job, read_kind, &s, &err) < 0 ||
        store_sample_list(c->yard->store, c->job, add_sample, &s, &err) < 0 ||
        growth_list_read(c->yard, c->job, 0, &growth, &err) < 0) {
        json_decref(s.list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200,
               json_pack("{s:I, s:o, s:o}", "job", (json_int_t)c->job, "samples", s.list, "growth",
                         growth));
}

/* One line per node, with the number of workers that fit there. */
static void show_hosts(const struct api_call *c)
{
    const struct live_job *j = yard_live(c->yard, c->job);
    struct str lines = {0};
    str_add(&lines, "");
    for (const struct attempt *a = j ? j->attempt : NULL; a; a = a->next_part)
        str_addf(&lines, "%s:%lld\n", c->yard->cluster.nodes[a->node].name,
                 (long long)parts_of(j, a));
    reply_text(c->reply, 200, "text/plain", lines.at);
    str_done(&lines);
}

/* ---- explanations ---------------------------------------------------------- */

/* server/explain prints these objects. */
static const struct api_member reason_members[] = {
    API_MEMBER("code", "string", "What it is about, for programs"),
    API_MEMBER("text", "string", "A sentence"),
    API_MEMBER("jobs", "?integer[]", "Ids of the jobs that it names"),
    {0},
};

static const struct api_member ahead_members[] = {
    API_MEMBER("id", "integer", "Number of the job"),
    API_MEMBER("name", "string", "Name"),
    API_MEMBER("state", "JobState", "State"),
    API_MEMBER("cpus", "number", "CPUs that it holds or requests"),
    API_MEMBER("remaining_s", "number|null", "Time until its expected end, in seconds"),
    {0},
};

static const struct api_member forecast_members[] = {
    API_MEMBER("expected", "number|null", "Expected time"),
    API_MEMBER("in_s", "number|null", "Seconds from now"),
    API_MEMBER("basis", "string", "What the forecast rests on"),
    {0},
};

static const struct api_member explanation_members[] = {
    API_MEMBER("job", "integer", "Id of the job"),
    API_MEMBER("state", "JobState", "State"),
    API_MEMBER("policy", "string", "The active policy"),
    API_MEMBER("summary", "string", "One sentence"),
    API_MEMBER("reasons", "Reason[]", "Most important first"),
    API_MEMBER("ahead", "Ahead[]", "Jobs ahead of it"),
    API_MEMBER("frees", "string[]", "What would let it start or grow"),
    API_MEMBER("start", "Forecast|null", "Expected start; null if it has started"),
    {0},
};

static const struct api_schema reason_schema = {"Reason", .members = reason_members};
static const struct api_schema ahead_schema = {"Ahead", .members = ahead_members};
static const struct api_schema forecast_schema = {"Forecast", .members = forecast_members};
static const struct api_schema explanation_schema = {"Explanation", .members = explanation_members};

static void show_explanation(const struct api_call *c)
{
    struct err err;
    json_t *why = NULL;
    if (explain_job(c->yard, c->job, &why, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, why);
}

/* ---- endpoints ------------------------------------------------------------- */

static const struct api_schema *const schemas[] = {&sample_schema,
                                                   &series_schema,
                                                   &reason_schema,
                                                   &ahead_schema,
                                                   &forecast_schema,
                                                   &explanation_schema,
                                                   NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "job_show",
        .method = "GET",
        .path = API_V1 "/jobs/{id}",
        .handle = show_job,
        .query = show_query,
        .summary = "Show a job in detail",
        .description = "Like in lists, and with its request, dependencies, attempts and sizes.",
        .replies = {{200, "JobDetail", "The job"}},
    },
    {
        .name = "job_progress",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/progress",
        .handle = show_progress,
        .summary = "Show a job's progress and usage over time",
        .description = "The longer a job runs, the further apart the samples are.",
        .replies = {{200, "ProgressSeries", "The samples"}},
    },
    {
        .name = "job_explain",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/explain",
        .handle = show_explanation,
        .summary = "Explain why a job waits, or has its size",
        .description = "Reasons, the jobs ahead of it, what would help, and its expected start.",
        .replies = {{200, "Explanation", "The explanation"}},
    },
    {
        .name = "job_hosts",
        .method = "GET",
        .path = API_V1 "/jobs/{id}/hosts",
        .handle = show_hosts,
        .summary = "List the nodes of a job's workers",
        .description = "One line NODE:WORKERS per node, in the format of a Horovod host discovery "
                       "script; empty while the job does not run.",
        .replies = {{200, "text/plain", "The lines"}},
    },
    {0},
};

const struct api_part api_part_jobs = {"Jobs", endpoints, schemas};
