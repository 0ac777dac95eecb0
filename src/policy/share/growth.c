/* Owns the measurement of growth efficiency, and how CPU weights follow from it.
 *
 *   P(t_i) = |E(t_i) - E(t_{i-1})| / (t_i - t_{i-1}),   G = P / R
 *
 * where E is the job's metric and R the mean CPU used in the interval (FlowCon, 4.1). The
 * scale of E differs from job to job, but the threshold alpha is a percentage, so G is taken
 * as a share of the job's own peak so far. The interval is that between two values that the
 * job has reported, of which there may be none within an itval. */
#include "policy/share/growth.h"

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "model/divide.h"
#include "policy/order.h"

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

/* The next measurement starts from this sample. */
static void begin_at(struct memo *m, const struct sample *from)
{
    m->i[2] = from->metric_at;
    m->d[0] = from->metric;
    m->d[1] = from->cpu_time;
}

/* Takes a new measurement of the task if it has reported a metric since the last one. */
static void measure(struct growth *g, const struct snapshot *s)
{
    const struct history *h = s->tasks[g->task].history;
    struct memo *m = &g->memo;
    if (!h || isnan(h->last.metric))
        return;
    if (!(m->i[0] & GROWTH_SEEN))
        begin_at(m, &h->first);
    m->i[0] |= GROWTH_SEEN;
    double used = h->last.cpu_time - m->d[1];
    if (used < 0) /* it was restarted, which has moved its metric too */
        begin_at(m, &h->last);
    /* A value that was reported before says nothing about the time since then. */
    if (h->last.metric_at <= m->i[2] || !(used > 0))
        return;
    /* Per second and per CPU: the time cancels out. */
    double growth = fabs(h->last.metric - m->d[0]) / used;
    m->d[2] = growth > m->d[2] ? growth : m->d[2];
    m->d[3] = m->d[2] > 0 ? growth / m->d[2] : 0;
    m->i[0] |= GROWTH_MEASURED;
    g->measured = g->fresh = true;
    g->g = m->d[3];
    begin_at(m, &h->last);
}

void growth_enter(struct growth *g, const struct snapshot *s, enum growth_list list)
{
    struct memo *m = &g->memo;
    if (!m->i[1] || growth_list(m) != list)
        m->i[1] = s->now;
    m->i[0] = (m->i[0] & ~(int64_t)GROWTH_LISTS) | list;
}

/* Turns the limits of one node, which has these CPUs to share, into weights: each task
 * gets up to its limit, and what is left over goes to those that can use more. Writes the
 * shares and the memos into the plan. */
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

static void run_node(const struct snapshot *s, const struct params *p, uint32_t node, usec_t itval,
                     growth_rule rule, const struct residents *r, struct plan *plan)
{
    struct growth *g = r->at + r->start[node];
    uint32_t n = r->start[node + 1] - r->start[node];
    struct memo m;
    if (!n || !is_due(s, node, g, n, itval, plan, &m))
        return;
    for (uint32_t i = 0; i < n; i++)
        measure(&g[i], s);
    rule(s, p, g, n, &m.i[1]);
    write_shares(plan, s, r->cpus[node], g, n);
    look_later(s, node, plan, &m);
}

struct residents growth_run(const struct snapshot *s, const struct params *p, usec_t itval,
                            growth_rule rule, struct plan *plan)
{
    struct residents r = find_residents(s, plan);
    for (uint32_t node = 0; node < s->cluster->n; node++)
        run_node(s, p, node, itval, rule, &r, plan);
    for (uint32_t i = 0; i < r.start[s->cluster->n]; i++)
        plan_enlist(plan, s, AXIS_SHARE, r.at[i].task, (uint8_t)(1 + growth_list(&r.at[i].memo)));
    return r;
}

/* ---- for people ------------------------------------------------------------ */

bool growth_is_shared(const struct task *t)
{
    return task_running(t) && task_shares_cpus(t);
}

void growth_say_measure(const struct task *t, char *out, size_t size)
{
    const struct memo *m = &t->memo[AXIS_SHARE];
    if (m->i[0] & GROWTH_MEASURED)
        snprintf(out, size, "its growth is %.3g %% of its best", 100 * m->d[3]);
    else if (t->history && !isnan(t->history->last.metric))
        snprintf(out, size, "its growth has not been measured yet");
    else
        snprintf(out, size, "it has reported no metric yet");
}

/* The CPUs of the node that are shared, and by how many. */
static units_t shared_on(const struct snapshot *s, uint32_t node, uint32_t *n)
{
    const struct node *at = &s->cluster->nodes[node];
    units_t cpus = at->cpus - at->cpu_held;
    *n = 0;
    for (size_t i = 0; i < at->tasks.n; i++) {
        const struct task *t = &s->tasks[at->tasks.at[i]];
        if (!growth_is_shared(t))
            continue;
        cpus += t->n;
        ++*n;
    }
    return cpus;
}

void growth_say_limit(const struct snapshot *s, const struct task *t, char *out, size_t size)
{
    uint32_t n;
    double limit = (double)t->memo[AXIS_SHARE].i[3] / GROWTH_LIMIT_SCALE;
    double cpus = (double)shared_on(s, t->at.at[0].node, &n) / UNIT;
    if (n == 1)
        snprintf(out, size, "It is alone on its node and not limited.");
    else if (limit >= 1)
        snprintf(out, size, "It is not limited.");
    else
        snprintf(out, size, "It is limited to %.3g of the %g CPUs while others want the rest.",
                 fmin(limit * cpus, (double)t->job->max / UNIT), cpus);
}
