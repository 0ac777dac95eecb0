/* Owns the measurement of growth efficiency and its translation into CPU
 * weights.
 *
 *   P(t_i) = |E(t_i) - E(t_{i-1})| / (t_i - t_{i-1}),   G = P / R
 *
 * with E the job's metric and R the mean CPU used in the interval (FlowCon, 4.1).
 * E differs in scale from job to job while the threshold alpha is a percentage,
 * so G is taken as a share of the job's own peak so far. */
#include "policy/growth.h"

#include <math.h>

#include "model/divide.h"
#include "policy/order.h"

static struct placement place_of(const struct snapshot *s, const struct grant *g)
{
    if (g->n == 0)
        return (struct placement){0};
    return g->moved ? g->place : s->tasks[g->task].at;
}

static bool shares(const struct snapshot *s, const struct grant *g)
{
    return g->pool == POOL_CPU && place_of(s, g).n == 1;
}

/* Takes what the grant has for itself off the CPUs that are shared. */
static void set_aside(struct residents *r, const struct snapshot *s, const struct grant *g)
{
    struct placement at = place_of(s, g);
    units_t beside = s->tasks[g->task].job->cpus;
    for (uint32_t i = 0; i < at.n; i++)
        r->cpus[at.at[i].node] -=
            g->pool == POOL_CPU ? at.at[i].units : at.at[i].units / UNIT * beside;
}

struct residents growth_residents(const struct snapshot *s, struct plan *plan)
{
    uint32_t nodes = s->cluster->n, sum = 0;
    struct residents r = {arena_raw(plan->arena, (plan->n + 1) * sizeof *r.at),
                          ARENA_ARRAY(plan->arena, nodes + 1, uint32_t),
                          arena_raw(plan->arena, (nodes + 1) * sizeof *r.cpus)};
    for (uint32_t i = 0; i < nodes; i++)
        r.cpus[i] = s->cluster->nodes[i].cpus;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        if (shares(s, g))
            r.start[place_of(s, g).at[0].node]++;
        else
            set_aside(&r, s, g);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        sum += r.start[i];
        r.start[i] = sum; /* counted down to the first below */
    }
    r.start[nodes] = sum;
    const uint32_t *order = order_grants(s, plan);
    for (uint32_t i = plan->n; i-- > 0;) {
        const struct grant *g = &plan->grants[order[i]];
        if (!shares(s, g))
            continue;
        const struct memo *memo = &s->tasks[g->task].memo[AXIS_SHARE];
        r.at[--r.start[place_of(s, g).at[0].node]] = (struct growth){
            .task = g->task, .memo = *memo, .measured = memo->i[1] > 1, .g = memo->d[3]};
    }
    return r;
}

void growth_measure(struct growth *g, const struct snapshot *s)
{
    const struct task *t = &s->tasks[g->task];
    struct memo *m = &g->memo;
    if (!t->history || !t->history->n || isnan(t->history->last.metric))
        return;
    const struct sample *last = &t->history->last, *first = &t->history->at[0];
    if (m->i[1] == 0) { /* compared with the first value that was seen */
        m->i[1] = 1;
        m->i[2] = first->at;
        m->d[0] = first->metric;
        m->d[1] = first->cpu_time;
    }
    double used = last->cpu_time - m->d[1];
    if (last->at <= m->i[2] || !(used > 0))
        return;
    /* Per second and per CPU: the time cancels out. */
    double growth = fabs(last->metric - m->d[0]) / used;
    m->d[2] = growth > m->d[2] ? growth : m->d[2];
    m->d[3] = m->d[2] > 0 ? growth / m->d[2] : 0;
    m->i[1] = 2;
    g->measured = true;
    g->g = m->d[3];
    m->i[2] = last->at;
    m->d[0] = last->metric;
    m->d[1] = last->cpu_time;
}

void growth_share(struct plan *plan, const struct snapshot *s, units_t shared, struct growth *g,
                  uint32_t n)
{
    double cpus = (double)shared, left = cpus;
    struct claim *claims = ARENA_ARRAY(plan->arena, n, struct claim);
    double *got = ARENA_ARRAY(plan->arena, n, double);
    for (uint32_t i = 0; i < n; i++) {
        double max = (double)s->tasks[g[i].task].job->max;
        claims[i] = (struct claim){fmin(g[i].limit * cpus, max), 1, 0};
    }
    divide_cpus(cpus, claims, n);
    for (uint32_t i = 0; i < n; i++) {
        got[i] = claims[i].got;
        left -= got[i];
        claims[i].limit = (double)s->tasks[g[i].task].job->max - got[i];
    }
    /* Limits are soft: what nobody wants within them goes to whoever can. */
    if (left > 1e-6)
        divide_cpus(left, claims, n);
    for (uint32_t i = 0; i < n; i++) {
        double weight = got[i] + (left > 1e-6 ? claims[i].got : 0);
        g[i].memo.i[3] = llround(g[i].limit * GROWTH_LIMIT_SCALE);
        plan_share(plan, g[i].task, s->tasks[g[i].task].job->max, fmax(weight, 1));
        plan_remember(plan, AXIS_SHARE, MEMO_TASK, g[i].task, &g[i].memo);
    }
}
