/* Owns the endpoint for monitoring systems: the server's metrics in Prometheus' text format, or as
 * OpenMetrics. Labels are bounded: states, routes and nodes, never jobs or users. */
#include "server/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/str.h"
#include "base/version.h"
#include "server/api/call.h"
#include "server/api/parts.h"
#include "server/load.h"

#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"
#define OPENMETRICS_TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

struct page {
    struct str text;
    bool open; /* as OpenMetrics */
};

/* ---- the format ------------------------------------------------------------ */

/* The lines before the samples of a metric. In OpenMetrics, the name of a counter has no
 * "_total" there. */
static void add_family(struct page *p, const char *name, const char *type, const char *help)
{
    size_t n = strlen(name), end = strlen("_total");
    bool total = !strcmp(type, "counter") && n > end && !strcmp(name + n - end, "_total");
    int shown = (int)(p->open && total ? n - end : n);
    str_addf(&p->text, "# HELP %.*s %s\n# TYPE %.*s %s\n", shown, name, help, shown, name, type);
}

static void add_label(struct page *p, const char *label, const char *value)
{
    str_addf(&p->text, "%s=\"", label);
    for (; *value; value++)
        if (*value == '\n')
            str_add(&p->text, "\\n");
        else
            str_addf(&p->text, "%s%c", strchr("\\\"", *value) ? "\\" : "", *value);
    str_add(&p->text, "\"");
}

/* A sample with at most one label; NULL = none. */
static void add_sample(struct page *p, const char *name, const char *label, const char *value,
                       double number)
{
    str_add(&p->text, name);
    if (label) {
        str_add(&p->text, "{");
        add_label(p, label, value);
        str_add(&p->text, "}");
    }
    if (isnan(number))
        str_add(&p->text, " NaN\n");
    else
        str_addf(&p->text, " %.15g\n", number);
}

static void add_single(struct page *p, const char *name, const char *type, const char *help,
                       double number)
{
    add_family(p, name, type, help);
    add_sample(p, name, NULL, NULL, number);
}

static void add_histogram(struct page *p, const char *name, const char *help,
                          const struct histogram *h)
{
    uint64_t sum = 0;
    add_family(p, name, "histogram", help);
    for (size_t i = 0; h->bounds[i] > 0; i++) {
        sum += h->buckets[i];
        str_addf(&p->text, "%s_bucket{le=\"%g%s\"} %" PRIu64 "\n", name, h->bounds[i],
                 p->open && h->bounds[i] >= 1 ? ".0" : "", sum);
    }
    str_addf(&p->text, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, metrics_count(h));
    str_addf(&p->text, "%s_sum %.15g\n%s_count %" PRIu64 "\n", name, h->sum, name,
             metrics_count(h));
}

/* ---- jobs ------------------------------------------------------------------ */

static void add_states(struct page *p, const struct yard *y)
{
    uint64_t n[JOB_STATE_COUNT] = {0};
    for (const struct live_job *j = y->jobs.first; j; j = j->next)
        n[j->row.state]++;
    add_family(p, "trainyard_jobs", "gauge", "Jobs that have not ended");
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        if (!job_state_over(s))
            add_sample(p, "trainyard_jobs", "state", job_state_name(s), (double)n[s]);
    add_family(p, "trainyard_jobs_ended_total", "counter", "Jobs that have ended");
    for (enum job_state s = 0; s < JOB_STATE_COUNT; s++)
        if (job_state_over(s))
            add_sample(p, "trainyard_jobs_ended_total", "state", job_state_name(s),
                       (double)y->metrics.ended[s]);
}

static void add_jobs(struct page *p, const struct yard *y)
{
    static const char *const names[][2] = {
#define X(kind, name, help) {name, help},
        METRICS_EVENTS(X)
#undef X
    };
    const struct metrics *m = &y->metrics;
    add_states(p, y);
    for (size_t i = 0; i < METRICS_EVENT_COUNT; i++)
        add_single(p, names[i][0], "counter", names[i][1], (double)m->events[i]);
    add_family(p, "trainyard_deadlines_total", "counter", "Ended jobs that had a deadline");
    add_sample(p, "trainyard_deadlines_total", "outcome", "met", (double)m->deadlines_met);
    add_sample(p, "trainyard_deadlines_total", "outcome", "missed", (double)m->deadlines_missed);
    add_histogram(p, "trainyard_job_wait_seconds", "Time in the queue of jobs that have ended",
                  &m->wait);
    add_histogram(p, "trainyard_job_completion_seconds",
                  "Time from submission to end of jobs that have ended", &m->completion);
}

/* ---- nodes ----------------------------------------------------------------- */

#define MB 1048576.0

/* What is shown of each node. */
static double node_value(const struct yard *y, uint32_t i, size_t which)
{
    const struct node *has = &y->cluster.nodes[i], *held = &y->engine.cluster.nodes[i];
    switch (which) {
    case 0:
        return held->state == NODE_UP && !y->nodes.at[i].lost;
    case 1:
        return api_units(has->cpus);
    case 2:
        return api_units(held->cpu_held);
    case 3:
        return api_units(has->gpus);
    case 4:
        return api_units(held->gpu_held);
    case 5:
        return (double)has->memory_mb * MB;
    case 6:
        return (double)held->memory_held * MB;
    case 7:
        return load_cpus_used(y, i);
    default:
        return load_memory_used(y, i) * MB;
    }
}

static void add_nodes(struct page *p, const struct yard *y)
{
    static const char *const names[][2] = {
        {"trainyard_node_up", "Whether jobs can start on the node"},
        {"trainyard_node_cpus", "CPUs of the node"},
        {"trainyard_node_cpus_held", "CPUs of the node that jobs hold"},
        {"trainyard_node_gpus", "GPUs of the node"},
        {"trainyard_node_gpus_held", "GPUs of the node that jobs hold"},
        {"trainyard_node_memory_bytes", "Memory of the node; 0 if it is not limited"},
        {"trainyard_node_memory_held_bytes", "Memory of the node that jobs hold"},
        {"trainyard_node_cpus_used", "CPUs that jobs use, as measured"},
        {"trainyard_node_memory_used_bytes", "Memory that jobs use, as measured"},
    };
    for (size_t which = 0; which < COUNT_OF(names); which++) {
        add_family(p, names[which][0], "gauge", names[which][1]);
        for (uint32_t i = 0; i < y->nodes.n; i++)
            if (!y->nodes.at[i].gone)
                add_sample(p, names[which][0], "node", y->cluster.nodes[i].name,
                           node_value(y, i, which));
    }
}

/* ---- the server ------------------------------------------------------------ */

static void add_requests(struct page *p, const struct metrics *m)
{
    static const char name[] = "trainyard_http_requests_total";
    add_family(p, name, "counter", "Requests that were answered");
    for (size_t i = 0; i < m->http.n; i++) {
        const struct http_count *h = &m->http.at[i];
        str_addf(&p->text, "%s{", name);
        add_label(p, "route", h->route);
        str_addf(&p->text, ",code=\"%dxx\"} %" PRIu64 "\n", h->status, h->n);
    }
    add_histogram(p, "trainyard_http_request_duration_seconds",
                  "Time from the first byte of a request to the end of its reply", &m->request);
}

/* Names as all exporters have them. */
static void add_process(struct page *p, const struct yard *y)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    usec_t cpu = (use.ru_utime.tv_sec + use.ru_stime.tv_sec) * USEC_PER_SEC + use.ru_utime.tv_usec +
                 use.ru_stime.tv_usec;
    add_single(p, "process_cpu_seconds_total", "counter", "CPU time of the server",
               time_seconds(cpu));
    add_single(p, "process_max_resident_memory_bytes", "gauge", "Most memory that it has had",
               (double)use.ru_maxrss * 1024);
    add_single(p, "process_start_time_seconds", "gauge", "When it was started, since 1970",
               time_seconds(y->metrics.started));
}

static void add_server(struct page *p, const struct yard *y)
{
    const struct metrics *m = &y->metrics;
    add_histogram(p, "trainyard_decision_duration_seconds", "Duration of the policy's decisions",
                  &m->decision);
    add_single(p, "trainyard_decision_failures_total", "counter", "Decisions that failed",
               (double)m->decision_failures);
    add_histogram(p, "trainyard_store_commit_duration_seconds", "Duration of commits", &m->commit);
    add_single(p, "trainyard_store_commit_failures_total", "counter",
               "Commits that failed; the turn is undone", (double)m->commit_failures);
    add_histogram(p, "trainyard_loop_busy_seconds",
                  "Duration of a turn of the event loop, for which others have to wait", &m->busy);
    add_requests(p, m);
    add_process(p, y);
    add_family(p, "trainyard_build_info", "gauge", "Version of the program; always 1");
    add_sample(p, "trainyard_build_info", "version", TRAINYARD_VERSION, 1);
}

static void show_metrics(const struct api_call *c)
{
    const char *accept = request_header(c->request, "Accept");
    struct page p = {.open = accept && strstr(accept, "application/openmetrics-text")};
    add_jobs(&p, c->yard);
    add_nodes(&p, c->yard);
    add_server(&p, c->yard);
    if (p.open)
        str_add(&p.text, "# EOF\n");
    reply_bytes(c->reply, 200, p.open ? OPENMETRICS_TYPE : PROMETHEUS_TYPE, p.text.at, p.text.n);
}

static const struct endpoint endpoints[] = {
    {
        .name = "metrics",
        .method = "GET",
        .path = API_V1 "/metrics",
        .also = "/metrics",
        .handle = show_metrics,
        .summary = "Show metrics of the server",
        .description = "In the text format of Prometheus, or as OpenMetrics if the header Accept "
                       "asks for it. Also at /metrics.",
        .replies = {{200, "text/plain", "The metrics"}},
    },
    {0},
};

const struct api_part api_part_metrics = {"Server", endpoints, NULL};
