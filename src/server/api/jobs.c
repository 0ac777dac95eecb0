/* Owns the endpoints that list jobs and show one: the job itself, its samples, its explanation
 * and its nodes. A list reads one row more than its page to know whether another page
 * follows. */
#include <stdio.h>
#include <stdlib.h>

#include "server/api/call.h"
#include "server/api/job_view.h"
#include "server/api/parts.h"
#include "server/explain/explain.h"
#include "server/jobs/find.h"
#include "server/jobs/parts.h"
#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/samples.h"

/* ---- lists ----------------------------------------------------------------- */

enum {
    LIST_SELECT,
    LIST_STATE,
    LIST_ACTIVE,
    LIST_FAILED,
    LIST_NAME,
    LIST_USER,
    LIST_ARRAY,
    LIST_LIMIT,
    LIST_AFTER,
    LIST_ORDER,
    LIST_IDS
};

static const struct api_query list_query[] = {
    [LIST_SELECT] = {"select", QUERY_TEXT,
                     .help =
                         "Only the jobs that this means: a number, a range of numbers, a name or "
                         "a pattern of names. The number or name of an array means all of it, "
                         "12_3 or train[3] one of its jobs.",
                     .example = "\"train[3]\""},
    [LIST_STATE] = {"state", QUERY_SET, .help = "Only jobs in these states",
                    .words = JOB_STATE_WORDS, .example = "[\"running\",\"queued\"]"},
    [LIST_ACTIVE] = {"active", QUERY_FLAG, .help = "Only jobs that have not ended"},
    [LIST_FAILED] = {"failed", QUERY_FLAG,
                     .help = "With active: also jobs that failed a short while ago; how long is "
                             "the server's option --show-failed"},
    [LIST_NAME] = {"name", QUERY_TEXT,
                   .help = "Only jobs with this name; * matches any text, ? any character",
                   .example = "\"train*\""},
    [LIST_USER] = {"user", QUERY_TEXT, .help = "Only this user's jobs"},
    [LIST_ARRAY] = {"array", QUERY_INTEGER,
                    .help = "Only jobs of the array whose first job has this id", .min = 1,
                    .max = INT64_MAX},
    [LIST_LIMIT] = {"limit", QUERY_INTEGER, .help = "Jobs per page", .min = 1, .max = 1000,
                    .fallback = 100},
    [LIST_AFTER] = {"after", QUERY_INTEGER, .help = "`next` of the previous page", .min = 1,
                    .max = INT64_MAX},
    [LIST_ORDER] = {"order", QUERY_CHOICE, .help = "Which jobs come first",
                    .words = "newest|oldest"},
    [LIST_IDS] = {"ids", QUERY_IDS,
                  .help = "Only these jobs, in this order; no other filter, and at most `limit`",
                  .example = "[12,15]"},
    {0},
};

_Static_assert(COUNT_OF(list_query) <= API_QUERIES + 1, "a parameter has no place");

static const struct api_member page_members[] = {
    API_MEMBER("jobs", "Job[]", "The jobs of this page"),
    API_MEMBER("next", "integer|null", "`after` of the next page; null on the last"),
    {0},
};

static const struct api_schema page_schema = {"JobPage", .members = page_members};

struct page {
    struct yard *y;
    json_t *jobs;
    uint32_t states; /* 0 = any */
    bool failed;     /* also those that have failed */
    uint32_t rows, limit;
    int64_t last; /* id of the last row of the page */
    bool more;
};

static uint32_t active_states(void)
{
    uint32_t states = 0;
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        states |= job_state_over(s) ? 0 : 1u << s;
    return states;
}

static int add_job(void *ctx, const struct job_row *row, struct err *err)
{
    struct page *p = ctx;
    (void)err;
    if (p->rows == p->limit) {
        p->more = true;
        return 1;
    }
    p->rows++;
    p->last = row->id;
    /* The state in memory may be newer. */
    const struct live_job *j = yard_live(p->y, row->id);
    bool listed = j ? p->states >> j->row.state & 1 : p->failed || p->states >> row->state & 1;
    if (!p->states || listed)
        json_array_append_new(p->jobs, job_view_brief(p->y, row));
    return 0;
}

/* Jobs that do not exist are left out. */
static int add_by_id(struct page *p, const char *ids, struct err *err)
{
    for (char *end; *ids && p->rows < p->limit; ids = end + (*end == ',')) {
        int64_t id = strtoll(ids, &end, 10);
        if (store_job_get(p->y->store, id, add_job, p, err) < 0 && err->code != ERR_NOT_FOUND)
            return -1;
    }
    return 0;
}

static void list_by_id(const struct api_call *c)
{
    const struct api_value *q = c->query;
    struct page p = {.y = c->yard, .jobs = json_array(), .limit = (uint32_t)q[LIST_LIMIT].number};
    struct err err;
    if (add_by_id(&p, q[LIST_IDS].text, &err) < 0) {
        json_decref(p.jobs);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o, s:n}", "jobs", p.jobs, "next"));
}

static bool filters(const struct api_value *q)
{
    for (int i = 0; i < LIST_IDS; i++)
        if (q[i].given && i != LIST_LIMIT)
            return true;
    return false;
}

static void list_jobs(const struct api_call *c)
{
    const struct api_value *q = c->query;
    struct found found = {0};
    struct err err;
    if (q[LIST_IDS].given && filters(q)) {
        api_refuse(c, "ids", "not allowed together with other filters");
        return;
    }
    if (q[LIST_IDS].given) {
        list_by_id(c);
        return;
    }
    if (q[LIST_STATE].given && q[LIST_ACTIVE].given) {
        api_refuse(c, "state", "give either state or active, not both");
        return;
    }
    if (q[LIST_SELECT].given && (q[LIST_NAME].given || q[LIST_ARRAY].given)) {
        api_refuse(c, "select", "select takes the place of name and array; leave those out");
        return;
    }
    if (q[LIST_SELECT].given && find_jobs(c->yard, q[LIST_SELECT].text, &found, &err) < 0) {
        reply_problem(c->reply, &err, "select");
        return;
    }
    uint32_t limit = (uint32_t)q[LIST_LIMIT].number;
    bool failed = q[LIST_ACTIVE].number && q[LIST_FAILED].number && c->yard->config.show_failed;
    struct job_filter f = {
        .states = q[LIST_ACTIVE].number ? active_states() : (uint32_t)q[LIST_STATE].number,
        .failed_since = failed ? clock_wall(&c->yard->clock) - c->yard->config.show_failed : 0,
        .name = q[LIST_NAME].text,
        .user = q[LIST_USER].text,
        .array = q[LIST_ARRAY].number,
        .after = q[LIST_AFTER].number,
        .oldest_first = q[LIST_ORDER].number == 1,
        .limit = limit + 1,
    };
    if (q[LIST_SELECT].given)
        find_narrow(&found, &f);
    struct page p = {
        .y = c->yard, .jobs = json_array(), .states = f.states, .failed = failed, .limit = limit};
    if (store_job_list(c->yard->store, &f, add_job, &p, &err) < 0) {
        json_decref(p.jobs);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    json_t *next = p.more ? json_integer(p.last) : json_null();
    turn_reply(c->yard, c->reply, 200, json_pack("{s:o, s:o}", "jobs", p.jobs, "next", next));
}

/* ---- one job --------------------------------------------------------------- */

enum { SHOW_ENV };

static const struct api_query show_query[] = {
    [SHOW_ENV] = {"env", QUERY_FLAG,
                  .help = "With the values of the variables that were submitted as `env`"},
    {0},
};

static void show_job(const struct api_call *c)
{
    struct err err;
    json_t *job = NULL;
    if (job_view_show(c->yard, c->job, c->query[SHOW_ENV].number, &job, &err) < 0)
        reply_problem(c->reply, &err, NULL);
    else
        turn_reply(c->yard, c->reply, 200, job);
}

struct sample_view {
    int64_t attempt;
    double at, step, metric, cpus, gpus, cpu_s, memory_mb;
};

static const struct api_member sample_members[] = {
    API_INTEGER(sample_view, attempt, "Number of the attempt"),
    API_NUMBER_OR_NULL(sample_view, at, "When it was taken"),
    API_NUMBER_OR_NULL(sample_view, step, "Steps done"),
    API_NUMBER_OR_NULL(sample_view, metric, "Value of the metric"),
    API_NUMBER_OR_NULL(sample_view, cpus, "CPUs held; null for a job with GPUs"),
    API_NUMBER_OR_NULL(sample_view, gpus, "GPUs held; null for a job without GPUs"),
    API_NUMBER_OR_NULL(sample_view, cpu_s, "CPU time of the attempt so far, in seconds"),
    API_NUMBER_OR_NULL(sample_view, memory_mb, "Memory in use"),
    {0},
};

static const struct api_schema sample_schema = {"Sample", .members = sample_members};

static const struct api_member series_members[] = {
    API_MEMBER("job", "integer", "Id of the job"),
    API_MEMBER("samples", "Sample[]", "Oldest first"),
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
        .cpus = s->gpu ? NAN : size,
        .gpus = s->gpu ? size : NAN,
        .cpu_s = row->cpu_time / (double)USEC_PER_SEC,
        .memory_mb = row->memory_mb,
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
    struct err err;
    if (store_job_get(c->yard->store, c->job, read_kind, &s, &err) < 0 ||
        store_sample_list(c->yard->store, c->job, add_sample, &s, &err) < 0) {
        json_decref(s.list);
        reply_problem(c->reply, &err, NULL);
        return;
    }
    turn_reply(c->yard, c->reply, 200,
               json_pack("{s:I, s:o}", "job", (json_int_t)c->job, "samples", s.list));
}

/* One line per node, with the number of workers that fit there. */
static void show_hosts(const struct api_call *c)
{
    const struct live_job *j = yard_live(c->yard, c->job);
    char line[320] = "";
    if (j && j->attempt)
        snprintf(line, sizeof line, "%s:%lld\n", c->yard->cluster.nodes[j->attempt->node].name,
                 (long long)parts_of(j, j->attempt));
    reply_text(c->reply, 200, "text/plain", line);
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

static const struct api_schema *const schemas[] = {
    &page_schema,  &sample_schema,   &series_schema,      &reason_schema,
    &ahead_schema, &forecast_schema, &explanation_schema, NULL};

static const struct endpoint endpoints[] = {
    {
        .name = "jobs_list",
        .method = "GET",
        .path = API_V1 "/jobs",
        .handle = list_jobs,
        .summary = "List jobs, page by page",
        .description = "A job that changes while pages are read is on at most one of them.",
        .query = list_query,
        .replies = {{200, "JobPage", "A page of jobs"}},
    },
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
