/* spread: each job goes to the least loaded node that has room.
 *
 * by=request counts the units that jobs on the node hold. by=usage is what they were measured to
 * use of its CPUs in the last seconds, which saturates: a node with two busy jobs and one with five
 * both show 100 %. Equal nodes are then chosen at random, from the seed. This is the default
 * Kubernetes scheduler as the SpeCon thesis describes it (DS), which explains the imbalance in its
 * figures.
 *
 * Source: Docker Swarm's spread strategy; SpeCon (Zheng), 6.2. */
#include "policy/place/spread.h"
#include "base/rng.h"
#include "policy/place.h"
#include "policy/policies.h"

enum { BY };
enum { BY_REQUEST, BY_USAGE };

static double load_by_request(const struct room *r, unsigned pool, uint32_t node)
{
    units_t size = node_size(&r->s->cluster->nodes[node], pool);
    return size ? 1 - (double)room_free(r, pool, node) / (double)size : 1;
}

double spread_measured(const struct snapshot *s, uint32_t node)
{
    const struct node *n = &s->cluster->nodes[node];
    double sum = 0;
    for (size_t i = 0; i < n->tasks.n; i++)
        sum += task_cpu_measured(&s->tasks[n->tasks.at[i]]);
    return sum;
}

static double load_by_usage(const struct room *r, uint32_t node)
{
    const struct node *n = &r->s->cluster->nodes[node];
    double load = n->cpus ? spread_measured(r->s, node) / (double)n->cpus : 0;
    /* A measurement does not distinguish 99.9 % from 100 %. */
    return load > 0.99 ? 1 : load;
}

uint32_t spread_choose(struct room *r, const struct task *t, unsigned pool, units_t n,
                       bool by_usage)
{
    uint32_t best = TASK_NONE;
    double least = 0;
    uint64_t best_lot = 0;
    for (uint32_t i = room_first(r, t->job, pool, n, 0); i != TASK_NONE;
         i = room_first(r, t->job, pool, n, i + 1)) {
        double load = by_usage ? load_by_usage(r, i) : load_by_request(r, pool, i);
        uint64_t lot = by_usage ? rng_mix(rng_mix(r->s->seed ^ t->job->id) + i) : i;
        if (best == TASK_NONE || load < least || (load == least && lot < best_lot)) {
            best = i;
            least = load;
            best_lot = lot;
        }
    }
    return best;
}

static uint32_t choose(struct room *r, const struct task *t, unsigned pool, units_t n, void *ctx)
{
    const struct params *p = ctx;
    return spread_choose(r, t, pool, n, p->v[BY].number == BY_USAGE);
}

static bool needs_usage(const struct params *p)
{
    return p->v[BY].number == BY_USAGE;
}

static void place_spread(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct params copy = *p;
    place_in_place(s, plan, choose, &copy);
}

static const struct param params[] = {
    [BY] = {"by", PARAM_CHOICE, "request", 0, 0, "request|usage",
            "what counts as load: units that jobs hold, or measured CPU use"},
    {0},
};

const struct policy policy_spread = {
    .axis = AXIS_PLACE,
    .name = "spread",
    .summary = "the least loaded node, by what was requested or by measured use",
    .rule =
        "A job goes to the node with the smallest load among those with room for all of it; if "
        "there is none, it is split over as few nodes as possible.\n\n"
        "by=request: the load is the share of the node's units that jobs hold; equal nodes by "
        "name.\n\n"
        "by=usage: the load is what the node's jobs were measured to use of its CPUs in the last "
        "10 "
        "s; of a job that was not measured yet, what it is given. It saturates at 100 %: a node "
        "with two busy jobs looks like one with five. Equal nodes are chosen at random, from the "
        "seed.",
    .source =
        "Docker Swarm's spread strategy; the default scheduler (DS) of the SpeCon thesis, 6.2",
    .params = params,
    .needs_usage = needs_usage,
    .decide = place_spread,
};
