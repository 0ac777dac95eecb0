/* Owns the layout of the report's data. Columns instead of rows, differences
 * instead of sums, and one number for a column whose values are all the same:
 * a job under a policy takes about 20 bytes. */
#include "sim/report/page_data.h"

#include <stddef.h>

#include "base/map.h"
#include "sim/report/figure.h"
#include "sim/report/page_curves.h"
#include "sim/report/page_gantt.h"
#include "sim/report/page_nodes.h"
#include "sim/report/result_json.h"

/* A longer name is cut. */
enum { NAME_BYTES = 96 };

typedef int64_t (*job_value)(const struct report *p, const struct sim_job *j);

struct job_column {
    const char *name;
    job_value value; /* NULL: a count of struct sim_job */
    size_t offset;   /* of that count */
};

static int64_t value_id(const struct report *p, const struct sim_job *j)
{
    (void)p;
    return j->job->id;
}

static int64_t value_units(const struct report *p, const struct sim_job *j)
{
    return j->job->req / p->per_unit;
}

static int64_t value_submit(const struct report *p, const struct sim_job *j)
{
    return report_ticks(p, j->job->submit);
}

/* From the submission, and not before it; -1 without one. */
static int64_t value_deadline(const struct report *p, const struct sim_job *j)
{
    if (j->job->deadline == USEC_NEVER)
        return -1;
    int64_t due = report_ticks(p, j->job->deadline) - value_submit(p, j);
    return due > 0 ? due : 0;
}

/* First start since the submission; -1 when there was none. */
static int64_t value_first(const struct report *p, const struct sim_job *j)
{
    return j->start == USEC_NEVER ? -1 : report_ticks(p, j->start) - value_submit(p, j);
}

/* End since the first start; -1 when there was none. */
static int64_t value_span(const struct report *p, const struct sim_job *j)
{
    bool done = j->outcome == SIM_DONE && j->start != USEC_NEVER;
    return done ? report_ticks(p, j->end) - report_ticks(p, j->start) : -1;
}

/* Waiting after the first start: 0 for a job that was never preempted. */
static int64_t value_again(const struct report *p, const struct sim_job *j)
{
    int64_t first = value_first(p, j);
    return report_duration(p, j->wait) - (first > 0 ? first : 0);
}

/* Running time beyond what the span leaves, mostly 0. */
static int64_t value_run(const struct report *p, const struct sim_job *j)
{
    int64_t span = value_span(p, j);
    return report_duration(p, j->run) - (span >= 0 ? span - value_again(p, j) : 0);
}

static int64_t value_outcome(const struct report *p, const struct sim_job *j)
{
    (void)p;
    return j->outcome;
}

static const struct job_column trace_columns[] = {
    {"id", value_id, 0},
    {"units", value_units, 0},
    {"submit", value_submit, 0},
    {"deadline", value_deadline, 0},
    {NULL, NULL, 0},
};

static const struct job_column policy_columns[] = {
    {"first", value_first, 0},
    {"span", value_span, 0},
    {"again", value_again, 0},
    {"run", value_run, 0},
    {"outcome", value_outcome, 0},
    {"starts", NULL, offsetof(struct sim_job, starts)},
    {"preemptions", NULL, offsetof(struct sim_job, preemptions)},
    {"moves", NULL, offsetof(struct sim_job, moves)},
    {"resizes", NULL, offsetof(struct sim_job, resizes)},
    {"failures", NULL, offsetof(struct sim_job, failures)},
    {NULL, NULL, 0},
};

static int64_t column_value(const struct job_column *c, const struct report *p,
                            const struct sim_job *j)
{
    const void *count = (const char *)j + c->offset;
    return c->value ? c->value(p, j) : *(const uint32_t *)count;
}

static void add_columns(struct str *s, const struct report *p, const struct sim_result *r,
                        const struct job_column *columns)
{
    AUTO_FREE int64_t *values = xmalloc((r->jobs / p->stride + 1) * sizeof *values);
    for (; columns->name; columns++) {
        size_t n = 0;
        for (uint64_t i = 0; i < r->jobs; i += p->stride)
            values[n++] = column_value(columns, p, &r->job[i]);
        figure_add_column(s, columns->name, values, n);
    }
}

/* Cuts a long name between two characters. */
static void add_name(struct str *s, const char *name)
{
    size_t n = strnlen(name, NAME_BYTES + 1);
    if (n <= NAME_BYTES) {
        str_add_json(s, name);
        return;
    }
    n = NAME_BYTES;
    while (n > 1 && ((unsigned char)name[n] & 0xc0) == 0x80)
        n--;
    char cut[NAME_BYTES + sizeof "…"];
    memcpy(cut, name, n);
    memcpy(cut + n, "…", sizeof "…");
    str_add_json(s, cut);
}

static void add_names(struct str *s, const struct report *p)
{
    str_add(s, ",\"name\":[");
    for (uint64_t i = 0; i < p->r->jobs; i += p->stride) {
        const char *name = p->r->job[i].job->name;
        str_add(s, i ? "," : "");
        add_name(s, name ? name : "");
    }
    str_add(s, "]");
}

/* Each group's name once, and for every job its index or -1. */
static void add_groups(struct str *s, const struct report *p)
{
    AUTO_FREE int64_t *values = xmalloc((p->r->jobs / p->stride + 1) * sizeof *values);
    struct map known = {0};
    size_t n = 0;
    str_add(s, ",\"groups\":[");
    for (uint64_t i = 0; i < p->r->jobs; i += p->stride) {
        const char *group = p->r->job[i].job->group;
        uint32_t index = (uint32_t)known.n;
        if (group && map_add(&known, group, index)) {
            str_add(s, index ? "," : "");
            add_name(s, group);
        } else if (group) {
            map_get(&known, group, &index);
        }
        values[n++] = group ? (int64_t)index : -1;
    }
    str_add(s, "]");
    figure_add_column(s, "group", values, n);
    map_done(&known);
}

static void add_jobs(struct str *s, const struct report *p)
{
    str_add(s, ",\"jobs\":{\"n\":");
    figure_add_int(s, (p->r->jobs + p->stride - 1) / p->stride);
    add_columns(s, p, p->r, trace_columns);
    add_names(s, p);
    add_groups(s, p);
    str_add(s, "}");
}

static int usec_compare(const void *a, const void *b)
{
    usec_t x = *(const usec_t *)a, y = *(const usec_t *)b;
    return (x > y) - (x < y);
}

/* Jobs that ended after their deadline, and by how much the median one. */
static void add_late(struct str *s, const struct report *p, const struct sim_result *r)
{
    VEC(usec_t) late = {0};
    for (uint32_t i = 0; i < r->jobs; i++) {
        const struct sim_job *j = &r->job[i];
        if (j->outcome == SIM_DONE && j->job->deadline != USEC_NEVER && !result_met(j))
            VEC_PUSH(&late, j->end - j->job->deadline);
    }
    if (late.n)
        qsort(late.at, late.n, sizeof *late.at, usec_compare);
    str_add(s, ",\"late\":");
    figure_add_int(s, (int64_t)late.n);
    str_add(s, ",\"lateness\":");
    figure_add_int(s, late.n ? report_duration(p, late.at[(late.n - 1) / 2]) : 0);
    VEC_DONE(&late);
}

static void add_policy(struct str *s, const struct report *p, const struct sim_result *r)
{
    str_add(s, "{\"figures\":");
    result_add_json(s, r, true);
    add_late(s, p, r);
    add_columns(s, p, r, policy_columns);
    report_add_cdf(s, p, r);
    report_add_series(s, p, r);
    report_add_nodes(s, p, r);
    report_add_segments(s, p, r);
    str_add(s, "}");
}

static void add_cluster(struct str *s, const struct cluster *c)
{
    str_addf(s, ",\"cluster\":{\"nodes\":%u,\"pools\":[", c->n);
    const char *comma = "";
    for (unsigned pool = 0; pool < cluster_pools(c); pool++) {
        units_t size = cluster_size(c, pool, false);
        if (size == 0)
            continue;
        str_addf(s, "%s[", comma);
        str_add_json(s, pool == POOL_CPU ? "CPU" : c->gpu_types[pool - POOL_GPU]);
        str_add(s, ",");
        figure_add(s, (double)size / UNIT);
        str_add(s, "]");
        comma = ",";
    }
    str_add(s, "],\"names\":[");
    for (uint32_t i = 0; i < c->n; i++) {
        str_add(s, i ? "," : "");
        add_name(s, c->nodes[i].name);
    }
    str_add(s, "]}");
}

/* What the jobs count in: "CPU", "GPU", or "unit" when they differ. */
static const char *unit_name(const struct sim_result *r)
{
    uint32_t on_cpu = 0;
    for (uint32_t i = 0; i < r->jobs; i++)
        on_cpu += r->job[i].job->pool == POOL_CPU;
    return on_cpu == 0 ? "GPU" : on_cpu == r->jobs ? "CPU" : "unit";
}

void report_add_data(struct str *s, const struct report *p)
{
    str_add(s, "{\"trace\":");
    str_add_json(s, p->trace);
    str_add(s, ",\"nodes\":");
    str_add_json(s, p->nodes);
    str_addf(s, ",\"unit\":\"%s\",\"per_unit\":%d", unit_name(p->r), (int)(UNIT / p->per_unit));
    str_addf(s, ",\"tick_us\":%d,\"exact\":%s,\"origin_s\":", (int)p->tick,
             p->exact ? "true" : "false");
    figure_add_seconds(s, p->origin);
    str_add(s, ",\"end\":");
    figure_add_int(s, report_ticks(p, p->end));
    str_addf(s, ",\"stride\":%u,\"gantt_stride\":%u", p->stride, p->gantt_stride);
    add_cluster(s, p->cluster);
    add_jobs(s, p);
    str_add(s, ",\"policies\":[");
    for (uint32_t i = 0; i < p->n; i++) {
        str_add(s, i ? "," : "");
        add_policy(s, p, &p->r[i]);
    }
    str_add(s, "]}\n");
}
