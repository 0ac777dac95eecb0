/* Owns the nodes of the report. A node is a step curve of its jobs, in tenths, and of the share of
 * its GPUs, or of its CPUs if it has none, in hundredths of a percent. A curve with many steps
 * becomes one of equal slices of time with the means in them. */
#include "sim/report/page_nodes.h"

#include <math.h>

#include "sim/report/figure.h"

enum { SLICES = REPORT_NODE_POINTS_MOST / 2 };

struct curve {
    int64_t at[REPORT_NODE_POINTS_MOST], jobs[REPORT_NODE_POINTS_MOST],
        used[REPORT_NODE_POINTS_MOST];
    size_t n;
};

static bool has_gpus(const struct report *p, uint32_t node)
{
    return p->cluster->nodes[node].gpus > 0;
}

static double used_of(const struct report *p, const struct sim_node_sample *s)
{
    return has_gpus(p, s->node) ? s->gpu : s->cpu;
}

static void add_point(struct curve *c, int64_t at, double jobs, double used)
{
    c->at[c->n] = at;
    c->jobs[c->n] = llround(jobs * 10);
    c->used[c->n++] = llround(used * 1e4);
}

/* Adds what held from the sample until `to` to the slices that it touches. */
static void slice_sample(const struct report *p, const struct sim_node_sample *s, usec_t to,
                         double (*sums)[2])
{
    double width = (double)(p->end - p->origin) / SLICES;
    double from = (double)(s->at - p->origin), end = (double)(to - p->origin);
    for (unsigned k = (unsigned)(from / width); k < SLICES && k * width < end; k++) {
        double span = fmin(end, (k + 1) * width) - fmax(from, k * width);
        sums[k][0] += span > 0 ? s->jobs * span / width : 0;
        sums[k][1] += span > 0 ? used_of(p, s) * span / width : 0;
    }
}

static const struct sim_node_sample *next_of(const struct sim_result *r, uint32_t node, size_t *i)
{
    for (; *i < r->node_samples.n; ++*i)
        if (r->node_samples.at[*i].node == node)
            return &r->node_samples.at[(*i)++];
    return NULL;
}

static void make_slices(const struct report *p, const struct sim_result *r, uint32_t node,
                        struct curve *c)
{
    double sums[SLICES][2] = {0};
    size_t i = 0;
    const struct sim_node_sample *s = next_of(r, node, &i), *next;
    for (; s; s = next) {
        next = next_of(r, node, &i);
        slice_sample(p, s, next ? next->at : p->end, sums);
    }
    for (unsigned k = 0; k < SLICES; k++)
        add_point(c, report_ticks(p, p->origin + (p->end - p->origin) * k / SLICES), sums[k][0],
                  sums[k][1]);
}

static void make_curve(const struct report *p, const struct sim_result *r, uint32_t node,
                       struct curve *c)
{
    const struct sim_node_sample *s;
    c->n = 0;
    for (size_t i = 0; (s = next_of(r, node, &i));) {
        if (c->n == REPORT_NODE_POINTS_MOST) {
            c->n = 0;
            make_slices(p, r, node, c);
            return;
        }
        add_point(c, report_ticks(p, s->at), s->jobs, used_of(p, s));
    }
}

static void add_node(struct str *s, const struct report *p, const struct sim_result *r,
                     uint32_t node, struct curve *c)
{
    const struct sim_node *n = &r->node[node];
    make_curve(p, r, node, c);
    str_addf(s, "{\"gpu\":%s,\"mean\":", has_gpus(p, node) ? "true" : "false");
    figure_add(s, has_gpus(p, node) ? n->gpu_used : n->cpu_used);
    str_add(s, ",\"n\":");
    figure_add_int(s, (int64_t)c->n);
    figure_add_column(s, "at", c->at, c->n);
    figure_add_column(s, "jobs", c->jobs, c->n);
    figure_add_column(s, "used", c->used, c->n);
    str_add(s, "}");
}

static void add_moves(struct str *s, const struct report *p, const struct sim_result *r)
{
    size_t n = r->moves.n < REPORT_MOVES_MOST ? r->moves.n : REPORT_MOVES_MOST;
    AUTO_FREE int64_t *values = xcalloc(n * 4, sizeof *values);
    for (size_t i = 0; i < n; i++) {
        const struct sim_move *m = &r->moves.at[i];
        values[i] = report_ticks(p, m->at);
        values[n + i] = m->job;
        values[2 * n + i] = m->from;
        values[3 * n + i] = m->to;
    }
    str_add(s, ",\"moves\":{\"n\":");
    figure_add_int(s, (int64_t)n);
    str_add(s, ",\"recorded\":");
    figure_add_int(s, (int64_t)r->moves.n);
    static const char *const names[] = {"at", "job", "from", "to"};
    for (unsigned k = 0; k < 4; k++)
        figure_add_column(s, names[k], values + k * n, n);
    str_add(s, ",\"list\":[");
    for (size_t i = 0; i < n; i++) {
        str_add(s, i ? "," : "");
        str_add_json(s, r->moves.at[i].list);
    }
    str_add(s, "]");
    str_add(s, "}");
}

void report_add_nodes(struct str *s, const struct report *p, const struct sim_result *r)
{
    AUTO_FREE struct curve *curve = xcalloc(1, sizeof *curve);
    uint32_t n = r->nodes < REPORT_NODES_MOST ? r->nodes : REPORT_NODES_MOST;
    str_add(s, ",\"by_node\":[");
    for (uint32_t i = 0; i < n; i++) {
        str_add(s, i ? "," : "");
        add_node(s, p, r, i, curve);
    }
    str_add(s, "]");
    add_moves(s, p, r);
}
