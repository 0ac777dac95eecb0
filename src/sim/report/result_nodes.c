/* Owns how nodes are printed: means over the makespan in a table, and in JSON also every change.
 * docs/report.md describes both. */
#include "sim/report/result_nodes.h"

#include <math.h>
#include <string.h>

#include "sim/report/figure.h"
#include "sim/report/result_text.h"

enum { NODE_NAME_MOST = 24, POLICY_MOST = 40 };

static int name_width(const struct cluster *c)
{
    size_t width = strlen("node");
    for (uint32_t i = 0; i < c->n; i++)
        width = strlen(c->nodes[i].name) > width ? strlen(c->nodes[i].name) : width;
    return width < NODE_NAME_MOST ? (int)width : NODE_NAME_MOST;
}

static int policy_width(const struct sim_result *r, uint32_t n)
{
    size_t width = strlen("policy");
    for (uint32_t i = 0; i < n; i++)
        width = strlen(r[i].policy) > width ? strlen(r[i].policy) : width;
    return width < POLICY_MOST ? (int)width : POLICY_MOST;
}

static void print_share(double share, FILE *out)
{
    if (isfinite(share))
        fprintf(out, "  %7.1f%%", share * 100);
    else
        fprintf(out, "  %8s", "-");
}

static void print_row(const struct sim_result *r, const struct cluster *c, uint32_t node,
                      int policy, int width, FILE *out)
{
    const struct sim_node *n = &r->node[node];
    fprintf(out, "%-*.*s  ", policy, policy, r->policy);
    uint32_t shown = result_print_name(c->nodes[node].name, (uint32_t)width, out);
    fprintf(out, "%*s", width - (int)shown, "");
    print_share(n->cpu_used, out);
    print_share(n->gpu_used, out);
    fprintf(out, "  %9.2f  %9u  %8u  %9u\n", isfinite(n->mean_jobs) ? n->mean_jobs : 0,
            n->most_jobs, n->moves_in, n->moves_out);
}

void result_node_table(const struct sim_result *r, uint32_t n, const struct cluster *c, FILE *out)
{
    int policy = policy_width(r, n), width = name_width(c);
    fprintf(out, "%-*s  %-*s  %8s  %8s  %9s  %9s  %8s  %9s\n", policy, "policy", width, "node",
            "CPU used", "GPU used", "mean jobs", "most jobs", "moved in", "moved out");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t node = 0; node < c->n; node++)
            print_row(&r[i], c, node, policy, width, out);
}

static void add_member(struct str *s, const char *name, double value)
{
    str_addf(s, ",\"%s\":", name);
    figure_add(s, value);
}

/* [[at_s, jobs, cpu, gpu], ...] of one node; `order` has its samples from first to last. */
static void add_series(struct str *s, const struct sim_result *r, const uint32_t *order, uint32_t n)
{
    str_add(s, ",\"series\":[");
    for (uint32_t i = 0; i < n; i++) {
        const struct sim_node_sample *sample = &r->node_samples.at[order[i]];
        str_add(s, i ? ",[" : "[");
        figure_add_seconds(s, sample->at);
        str_addf(s, ",%u,", sample->jobs);
        figure_add(s, sample->cpu);
        str_add(s, ",");
        figure_add(s, sample->gpu);
        str_add(s, "]");
    }
    str_add(s, "]");
}

/* Sorts the samples by node, in the order of time: start[node] is where those of a node begin. */
static void sort_samples(const struct sim_result *r, uint32_t *start, uint32_t *order)
{
    for (size_t i = 0; i < r->node_samples.n; i++)
        start[r->node_samples.at[i].node + 1]++;
    for (uint32_t i = 0; i < r->nodes; i++)
        start[i + 1] += start[i];
    AUTO_FREE uint32_t *next = xcalloc(r->nodes + 1, sizeof *next);
    memcpy(next, start, (r->nodes + 1) * sizeof *next);
    for (size_t i = 0; i < r->node_samples.n; i++)
        order[next[r->node_samples.at[i].node]++] = (uint32_t)i;
}

static void add_moves(struct str *s, const struct sim_result *r, const struct cluster *c)
{
    str_add(s, ",\"moves\":[");
    for (size_t i = 0; i < r->moves.n; i++) {
        const struct sim_move *m = &r->moves.at[i];
        const char *job = r->job[m->job].job->name;
        str_add(s, i ? ",{\"at_s\":" : "{\"at_s\":");
        figure_add_seconds(s, m->at);
        str_add(s, ",\"job\":");
        str_add_json(s, job ? job : "");
        str_add(s, ",\"from\":");
        str_add_json(s, c->nodes[m->from].name);
        str_add(s, ",\"to\":");
        str_add_json(s, c->nodes[m->to].name);
        str_add(s, ",\"list\":");
        str_add_json(s, m->list);
        str_add(s, "}");
    }
    str_add(s, "]");
}

void result_add_nodes(struct str *s, const struct sim_result *r, const struct cluster *c)
{
    AUTO_FREE uint32_t *start = xcalloc(r->nodes + 1, sizeof *start);
    AUTO_FREE uint32_t *order = xcalloc(r->node_samples.n, sizeof *order);
    sort_samples(r, start, order);
    str_add(s, ",\"nodes\":[");
    for (uint32_t i = 0; i < r->nodes; i++) {
        const struct sim_node *n = &r->node[i];
        str_add(s, i ? ",{\"name\":" : "{\"name\":");
        str_add_json(s, c->nodes[i].name);
        add_member(s, "cpu_used", n->cpu_used);
        add_member(s, "gpu_used", n->gpu_used);
        add_member(s, "mean_jobs", n->mean_jobs);
        str_addf(s, ",\"most_jobs\":%u,\"moves_in\":%u,\"moves_out\":%u", n->most_jobs, n->moves_in,
                 n->moves_out);
        add_series(s, r, order + start[i], start[i + 1] - start[i]);
        str_add(s, "}");
    }
    str_add(s, "]");
    add_moves(s, r, c);
}
