/* Owns what the sharers that follow growth have in common: who shares the CPUs of a node, when
 * they are looked at (FlowCon, algorithm 2), and how CPU weights follow from limits. What a job's
 * growth is, measure.c says. */
#include "policy/share/growth.h"

#include <math.h>

#include "base/rng.h"
#include "model/divide.h"
#include "policy/order.h"
#include "policy/share/measure.h"

static bool shares(const struct snapshot *s, const struct grant *g)
{
    return g->pool == POOL_CPU && plan_place(s, g).n == 1;
}

/* Subtracts what the grant has for itself from the CPUs that are shared. */
static void set_aside(struct residents *r, const struct snapshot *s, const struct grant *g)
{
    struct placement at = plan_place(s, g);
    for (uint32_t i = 0; i < at.n; i++)
        r->cpus[at.at[i].node] -= job_cpus(s->tasks[g->task].job, g->pool, at.at[i].units);
}

/* Finds the tasks that will share the CPUs of each node under the plan. */
static struct residents find_residents(const struct snapshot *s, struct plan *plan)
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
            r.start[plan_place(s, g).at[0].node]++;
        else
            set_aside(&r, s, g);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        sum += r.start[i];
        r.start[i] = sum; /* decremented to the first one below */
    }
    r.start[nodes] = sum;
    const uint32_t *order = order_grants(s, plan);
    for (uint32_t i = plan->n; i-- > 0;) {
        const struct grant *g = &plan->grants[order[i]];
        if (!shares(s, g))
            continue;
        const struct memo *memo = &s->tasks[g->task].memo[AXIS_SHARE];
        r.at[--r.start[plan_place(s, g).at[0].node]] =
            (struct growth){.task = g->task,
                            .memo = *memo,
                            .measured = memo->i[0] & GROWTH_MEASURED,
                            .g = memo->d[3]};
    }
    return r;
}

/* Changes when a task joins or leaves, also if it is back at once. */
static int64_t signature(const struct snapshot *s, const struct growth *g, uint32_t n)
{
    uint64_t sum = n;
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &s->tasks[g[i].task];
        uint64_t starts = t->starts + !task_running(t);
        sum += rng_mix((starts << 32) + t->id);
    }
    return (int64_t)sum;
}

/* A node is looked at every interval, and whenever a task joins or leaves it. In its memo:
 * i[0] = next look, i[1] = interval, i[2] = who is there. */

/* Whether these tasks are to be looked at now; if not, the plan is woken when they are. *m
 * becomes the node's memo, its interval reset to itval if a task has joined or left. */
static bool is_due(const struct snapshot *s, uint32_t node, const struct growth *g, uint32_t n,
                   usec_t itval, struct plan *plan, struct memo *m)
{
    *m = s->node_memo[AXIS_SHARE][node];
    int64_t who = signature(s, g, n);
    if (who == m->i[2] && s->now < m->i[0]) {
        plan_wake(plan, m->i[0]);
        return false;
    }
    if (who != m->i[2])
        m->i[1] = itval;
    m->i[2] = who;
    return true;
}

/* Keeps the memo; the next look is an interval from now. */
static void look_later(const struct snapshot *s, uint32_t node, struct plan *plan, struct memo *m)
{
    m->i[0] = s->now + m->i[1];
    plan_wake(plan, m->i[0]);
    plan_remember(plan, AXIS_SHARE, MEMO_NODE, node, m);
}

void growth_enter(struct growth *g, const struct snapshot *s, enum growth_list list)
{
    struct memo *m = &g->memo;
    if (!m->i[1] || growth_list(m) != list)
        m->i[1] = s->now;
    m->i[0] = (m->i[0] & ~(int64_t)GROWTH_LISTS) | list;
}

/* Turns the limits of one node, which has these CPUs to share, into weights: each task
 * gets up to its limit, as control groups with these quotas and equal weights would have it,
 * and what is left over goes to those that can use more. Writes the shares and the memos into
 * the plan. */
static void write_shares(struct plan *plan, const struct snapshot *s, units_t shared,
                         struct growth *g, uint32_t n)
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
    /* Limits are soft: what is left within them goes to tasks that can use more. */
    if (left > 1e-6)
        divide_cpus(left, claims, n);
    for (uint32_t i = 0; i < n; i++) {
        double weight = got[i] + (left > 1e-6 ? claims[i].got : 0);
        g[i].memo.i[3] = llround(g[i].limit * GROWTH_LIMIT_SCALE);
        plan_share(plan, g[i].task, s->tasks[g[i].task].job->max, fmax(weight, 1));
        plan_remember(plan, AXIS_SHARE, MEMO_TASK, g[i].task, &g[i].memo);
    }
}

static void run_node(const struct snapshot *s, const struct params *p, uint32_t node,
                     const struct growth_how *how, growth_rule rule, const struct residents *r,
                     struct plan *plan)
{
    struct growth *g = r->at + r->start[node];
    uint32_t n = r->start[node + 1] - r->start[node];
    struct memo m;
    if (!n || !is_due(s, node, g, n, how->itval, plan, &m))
        return;
    for (uint32_t i = 0; i < n; i++) {
        growth_measure(&g[i], s, node, how);
        if (g[i].fresh)
            plan_measured(plan, g[i].task, how->bandwidth);
    }
    rule(s, p, g, n, &m.i[1]);
    write_shares(plan, s, r->cpus[node], g, n);
    look_later(s, node, plan, &m);
}

struct residents growth_run(const struct snapshot *s, const struct params *p,
                            const struct growth_how *how, growth_rule rule, struct plan *plan)
{
    struct residents r = find_residents(s, plan);
    for (uint32_t node = 0; node < s->cluster->n; node++)
        run_node(s, p, node, how, rule, &r, plan);
    for (uint32_t i = 0; i < r.start[s->cluster->n]; i++)
        plan_enlist(plan, s, AXIS_SHARE, r.at[i].task, (uint8_t)(1 + growth_list(&r.at[i].memo)));
    return r;
}

double growth_limit(const struct growth *g, uint32_t n, double sum, double floor)
{
    double share = sum > 0 ? g->g / sum : 1;
    if (n == 1)
        return 1;
    if (g->silent)
        return 1 / (double)n;
    return !g->measured ? 1 : share > floor ? share : floor;
}
