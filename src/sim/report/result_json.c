/* Owns the machine-readable summary: its field names, their order and what is
 * null. */
#include "sim/report/result_json.h"

#include "sim/report/figure.h"
#include "sim/report/result_nodes.h"

static void add_count(struct str *s, const char *name, uint64_t value)
{
    str_addf(s, ",\"%s\":", name);
    figure_add_int(s, (int64_t)value);
}

static void add_figure(struct str *s, const char *name, double value)
{
    str_addf(s, ",\"%s\":", name);
    figure_add(s, value);
}

static void add_timing(struct str *s, const char *name, double value, bool timing)
{
    if (timing)
        add_figure(s, name, value);
    else
        str_addf(s, ",\"%s\":null", name);
}

/* All members, without the braces. */
static void add_members(struct str *s, const struct sim_result *r, bool timing)
{
    str_add(s, "\"policy\":");
    str_add_json(s, r->policy);
    add_count(s, "jobs", r->jobs);
    add_count(s, "finished", r->finished);
    add_figure(s, "makespan_s", r->makespan_s);
    add_figure(s, "mean_jct_s", r->mean_jct_s);
    add_figure(s, "median_jct_s", r->median_jct_s);
    add_figure(s, "p95_jct_s", r->p95_jct_s);
    add_figure(s, "p99_jct_s", r->p99_jct_s);
    add_figure(s, "mean_wait_s", r->mean_wait_s);
    add_count(s, "deadline_jobs", r->deadline_jobs);
    add_count(s, "deadline_met", r->deadline_met);
    add_figure(s, "utilization", r->utilization);
    add_count(s, "starts", r->starts);
    add_count(s, "preemptions", r->preemptions);
    add_count(s, "migrations", r->migrations);
    add_count(s, "resizes", r->resizes);
    add_count(s, "choices", r->choices);
    add_count(s, "decisions", r->decisions);
    add_timing(s, "decision_p50_us", r->decision_p50_us, timing);
    add_timing(s, "decision_p99_us", r->decision_p99_us, timing);
    add_timing(s, "decision_max_us", r->decision_max_us, timing);
    add_timing(s, "wall_s", r->wall_s, timing);
    add_count(s, "never_runnable", r->never);
    add_count(s, "unfinished", r->unfinished);
    add_count(s, "failures", r->failures);
    add_figure(s, "allocated_used", r->allocated_used);
    add_figure(s, "energy_wh", r->energy_wh);
    add_figure(s, "bound_jct_s", r->bound_jct_s);
    add_figure(s, "worst_fairness", r->worst_fairness);
    add_figure(s, "unfair", r->unfair);
    add_figure(s, "bound_makespan_s", r->bound_makespan_s);
}

void result_add_json(struct str *s, const struct sim_result *r, bool timing)
{
    str_add(s, "{");
    add_members(s, r, timing);
    str_add(s, "}");
}

void result_json(const struct sim_result *r, bool timing, const struct cluster *nodes, FILE *out)
{
    struct str s = {0};
    str_add(&s, "{");
    add_members(&s, r, timing);
    if (nodes)
        result_add_nodes(&s, r, nodes);
    fprintf(out, "%s}\n", s.at);
    str_done(&s);
}
