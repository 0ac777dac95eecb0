/* Owns the recording of nodes. One pass over the running tasks finds the state of all nodes at an
 * instant; a node has one sample per instant, and only if its state differs from the last one. */
#include "sim/node_recorder.h"

#include <math.h>

void node_recorder_init(struct node_recorder *rec, const struct cluster *c, struct sim_result *r)
{
    *rec = (struct node_recorder){r, xcalloc(c->n, sizeof *rec->now),
                                  xcalloc(c->n, sizeof *rec->last)};
    r->nodes = c->n;
    r->node = xcalloc(c->n, sizeof *r->node);
}

void node_recorder_done(struct node_recorder *rec)
{
    free(rec->now);
    free(rec->last);
}

/* Adds what the task does on each of its nodes. */
static void add_task(struct sim_node_sample *now, const struct task *t, const struct cluster *c)
{
    for (uint32_t i = 0; i < t->at.n; i++) {
        uint32_t node = t->at.at[i].node;
        double part = t->n ? (double)t->at.at[i].units / (double)t->n : 0;
        now[node].jobs++;
        if (c->nodes[node].cpus)
            now[node].cpu += t->cpu_busy * part / (double)c->nodes[node].cpus;
        if (t->pool != POOL_CPU && c->nodes[node].gpus)
            now[node].gpu += (double)t->at.at[i].units / (double)c->nodes[node].gpus;
    }
}

/* Tasks are summed in any order, so the last digits may differ. */
static bool same_state(const struct sim_node_sample *a, const struct sim_node_sample *b)
{
    return a->jobs == b->jobs && fabs(a->cpu - b->cpu) < 1e-9 && fabs(a->gpu - b->gpu) < 1e-9;
}

/* Keeps a sample if the node's state has changed; one of the same instant is replaced. */
static void keep_sample(struct node_recorder *rec, const struct sim_node_sample *s)
{
    static const struct sim_node_sample idle;
    size_t index = rec->last[s->node];
    struct sim_node_sample *last = index ? &rec->r->node_samples.at[index - 1] : NULL;
    if (same_state(s, last ? last : &idle))
        return;
    if (last && last->at == s->at) {
        *last = *s;
        return;
    }
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): capacity means memory */
    VEC_PUSH(&rec->r->node_samples, *s);
    rec->last[s->node] = rec->r->node_samples.n;
}

void node_recorder_sample(struct node_recorder *rec, const struct engine *e, usec_t now)
{
    const struct cluster *c = &e->cluster;
    memset(rec->now, 0, c->n * sizeof *rec->now);
    for (size_t i = 0; i < e->running.n; i++)
        add_task(rec->now, &e->tasks[e->running.at[i]], c);
    for (uint32_t node = 0; node < c->n; node++) {
        rec->now[node].at = now;
        rec->now[node].node = node;
        keep_sample(rec, &rec->now[node]);
    }
}

/* Adds what held on the node from the sample on until `to`. */
static void add_span(struct sim_node *n, const struct sim_node_sample *s, usec_t to)
{
    double span = (double)(to - s->at);
    n->cpu_used += s->cpu * span;
    n->gpu_used += s->gpu * span;
    n->mean_jobs += s->jobs * span;
    n->most_jobs = s->jobs > n->most_jobs ? s->jobs : n->most_jobs;
}

void node_recorder_summarise(const struct node_recorder *rec, const struct cluster *c, usec_t from,
                             usec_t end)
{
    struct sim_result *r = rec->r;
    struct sim_node_sample *open = rec->now; /* by node: the sample that holds */
    double span = end > from ? (double)(end - from) : NAN;
    for (uint32_t i = 0; i < r->nodes; i++)
        open[i] = (struct sim_node_sample){.at = from, .node = i};
    for (size_t i = 0; i < r->node_samples.n; i++) {
        const struct sim_node_sample *s = &r->node_samples.at[i];
        add_span(&r->node[s->node], &open[s->node], s->at);
        open[s->node] = *s;
    }
    for (uint32_t i = 0; i < r->nodes; i++) {
        struct sim_node *n = &r->node[i];
        add_span(n, &open[i], open[i].jobs && end > open[i].at ? end : open[i].at);
        n->mean_jobs /= span;
        n->cpu_used = c->nodes[i].cpus ? n->cpu_used / span : NAN;
        n->gpu_used = c->nodes[i].gpus ? n->gpu_used / span : NAN;
    }
    for (size_t i = 0; i < r->moves.n; i++) {
        r->node[r->moves.at[i].from].moves_out++;
        r->node[r->moves.at[i].to].moves_in++;
    }
}
