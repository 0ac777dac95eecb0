/* specon: jobs that have nearly converged make room. They are moved, once, to the node with the
 * least demand; when that is done for all, the nodes are balanced.
 *
 * New jobs go to the least used node. Every interval (algorithm 3) each job that was not moved
 * yet is categorised by G = |E(t_m) - E(t_{m-1})|, where E is its metric divided by its first
 * value. If G is below the last G and below alpha, it goes from progressing to watching to
 * converged; a job that has converged already asks to be moved if more than one job on its node
 * has not. If G is above alpha, it is progressing again. For a request (algorithm 4) the nodes
 * are scored 2|PC| + 1.5|WC| + |CC|, with these weights as parameters. The job stays if its node
 * has the lowest score, otherwise it goes to the least used node with the lowest score; either way
 * it is marked and not considered again. When all jobs have converged (algorithm 5), with bf =
 * floor(jobs / nodes), idle nodes take the job that converged last from a node with more than bf,
 * until they have bf jobs; if no node is idle, nodes with fewer than bf - 1 do so.
 *
 * Source: Zheng (thesis), SpeCon, 5.2. Deviations:
 * - The listing of algorithm 3 repeats WC in lines 10-12 where the text says CC.
 * - All of it runs in the server, algorithm 3 too, which the thesis has on each worker.
 * - Algorithm 5 waits until all jobs are marked, which a converged job without a reason to ask
 *   never is. Here it waits, as the text says, until all are marked or converged. A job that has
 *   run for three intervals and cannot be measured does not hold it up.
 * - Algorithm 5 takes the job that converged last wherever it is, also from a node that is left
 *   with too few, and one for each node in a run. Here jobs come from nodes that have more than
 *   they should, and a node takes as many as it lacks; nodes are served in their order.
 * - bf is at least 1, so that an idle node also takes a job if there are fewer jobs than nodes.
 * - A job is moved for balance at most once per cooldown, and not if its remaining time is shorter
 *   than the move.
 *
 * Memo (task): i[0] = category, i[1] = 1 + time at which it was marked, i[2] = 1 + time at which
 * it was moved for balance, i[3] = measurements, d[0] = E, d[1] = G, d[2] = time at which it
 * converged.
 * Memo (all): i[0] = time of the next categorisation. */
#include <math.h>
#include <stdio.h>

#include "model/growth.h"
#include "policy/order.h"
#include "policy/place.h"
#include "policy/place/spread.h"
#include "policy/policies.h"

enum { PROGRESSING, WATCHING, CONVERGED, CATEGORIES };
/* The weights of the categories come first, in their order. */
enum { WEIGHTS, ALPHA = WEIGHTS + CATEGORIES, INTERVAL, COOLDOWN };
enum { SILENT_INTERVALS = 3 };

struct world {
    const struct snapshot *s;
    const struct params *p;
    struct plan *plan;
    struct room room;
    const uint32_t *order;         /* grants by submission */
    struct memo *memo;             /* by grant: the memo that will be written */
    uint32_t *node;                /* by grant */
    uint32_t (*count)[CATEGORIES]; /* by node */
    uint32_t jobs;
};

static uint32_t jobs_on(const struct world *w, uint32_t node)
{
    const uint32_t *c = w->count[node];
    return c[PROGRESSING] + c[WATCHING] + c[CONVERGED];
}

static void world_init(struct world *w, const struct snapshot *s, const struct params *p,
                       struct plan *plan)
{
    *w = (struct world){.s = s, .p = p, .plan = plan, .order = order_grants(s, plan)};
    w->memo = arena_raw(plan->arena, (plan->n + 1) * sizeof *w->memo);
    w->node = arena_raw(plan->arena, (plan->n + 1) * sizeof *w->node);
    w->count = arena_alloc(plan->arena, s->cluster->n * sizeof *w->count);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        struct placement at = plan_place(s, g);
        w->memo[i] = s->tasks[g->task].memo[AXIS_PLACE];
        if (w->memo[i].i[0] < 0 || w->memo[i].i[0] >= CATEGORIES) /* a memo may come from disk */
            w->memo[i].i[0] = PROGRESSING;
        w->node[i] = g->pool == POOL_CPU && at.n == 1 ? at.at[0].node : TASK_NONE;
        if (w->node[i] == TASK_NONE)
            continue;
        w->count[w->node[i]][w->memo[i].i[0]]++;
        w->jobs++;
    }
}

static bool takes_jobs(const struct world *w, uint32_t node)
{
    const struct node *n = &w->s->cluster->nodes[node];
    return n->state == NODE_UP && n->cpus > 0;
}

/* Whether there is room for the i-th grant and the move is worth it. */
static bool can_move(const struct world *w, uint32_t i, uint32_t to)
{
    const struct grant *g = &w->plan->grants[i];
    const struct task *t = &w->s->tasks[g->task];
    double left = t->rate > 0 ? task_remaining(t, w->s->now) / t->rate : INFINITY;
    return task_running(t) && !task_stays(t) && !g->moved && left > (double)t->job->cost.move &&
           room_for(&w->room, t->job, g->pool, to, false) >= g->n;
}

static void move(struct world *w, uint32_t i, uint32_t to)
{
    struct grant *g = &w->plan->grants[i];
    const struct task *t = &w->s->tasks[g->task];
    room_give(&w->room, t->job, g->pool, w->node[i], g->n, true);
    room_take(&w->room, t->job, g->pool, to, g->n, false);
    w->count[w->node[i]][w->memo[i].i[0]]--;
    w->count[to][w->memo[i].i[0]]++;
    w->node[i] = to;
    uint32_t cap = 0;
    g->place = (struct placement){0};
    place_add(&g->place, &cap, to, g->n, w->plan->arena);
    g->moved = true;
}

static double score(const struct world *w, uint32_t node)
{
    double sum = 0;
    for (int c = 0; c < CATEGORIES; c++)
        sum += w->p->v[WEIGHTS + c].number * w->count[node][c];
    return sum;
}

/* Algorithm 4. */
static void reallocate(struct world *w, uint32_t i)
{
    uint32_t best = TASK_NONE;
    double lowest = INFINITY;
    for (uint32_t n = 0; n < w->s->cluster->n; n++) {
        double demand = score(w, n);
        if (!takes_jobs(w, n) || demand > lowest)
            continue;
        bool own = n == w->node[i];
        if (demand < lowest || own ||
            (best != w->node[i] && spread_measured(w->s, n) < spread_measured(w->s, best)))
            best = n;
        lowest = demand;
    }
    if (best != w->node[i] && best != TASK_NONE && can_move(w, i, best))
        move(w, i, best);
    w->memo[i].i[1] = 1 + w->s->now;
}

/* Algorithm 3 for one job; true if it asks to be moved. */
static bool categorise(struct world *w, uint32_t i)
{
    double alpha = w->p->v[ALPHA].number;
    const struct task *t = &w->s->tasks[w->plan->grants[i].task];
    struct memo *m = &w->memo[i];
    if (w->node[i] == TASK_NONE || !task_running(t) || m->i[1] || !t->history ||
        isnan(t->history->last.metric))
        return false;
    double first = t->history->first.metric;
    double e = first != 0 ? t->history->last.metric / first : t->history->last.metric;
    double growth = fabs(e - m->d[0]), last = m->i[3] > 1 ? m->d[1] : INFINITY;
    int64_t category = m->i[0], seen = m->i[3]++;
    m->d[0] = e;
    if (seen == 0)
        return false;
    m->d[1] = growth;
    plan_measured(w->plan, w->plan->grants[i].task, GROWTH_LINE_RATE);
    bool asks = false;
    if (growth > alpha) {
        m->i[0] = PROGRESSING;
    } else if (growth < last && growth < alpha) {
        const uint32_t *c = w->count[w->node[i]];
        asks = category == CONVERGED && c[PROGRESSING] + c[WATCHING] > 1;
        m->i[0] = category < CONVERGED ? category + 1 : category;
        m->d[2] = category < CONVERGED ? (double)w->s->now : m->d[2];
    }
    w->count[w->node[i]][category]--;
    w->count[w->node[i]][m->i[0]]++;
    return asks;
}

/* The job that converged last among those on nodes with more than `above` jobs that can go to
 * the node. */
static uint32_t pick(const struct world *w, uint32_t node, uint32_t above, usec_t cooldown)
{
    uint32_t best = TASK_NONE;
    for (uint32_t k = 0; k < w->plan->n; k++) {
        uint32_t i = w->order[k];
        const struct memo *m = &w->memo[i];
        if (w->node[i] == TASK_NONE || jobs_on(w, w->node[i]) <= above || !can_move(w, i, node))
            continue;
        if (m->i[2] && w->s->now - (m->i[2] - 1) < cooldown)
            continue;
        if (best == TASK_NONE || m->d[2] > w->memo[best].d[2])
            best = i;
    }
    return best;
}

static void take(struct world *w, uint32_t node, uint32_t until, uint32_t above, usec_t cooldown)
{
    while (jobs_on(w, node) < until) {
        uint32_t i = pick(w, node, above, cooldown);
        if (i == TASK_NONE)
            return;
        move(w, i, node);
        w->memo[i].i[2] = 1 + w->s->now;
    }
}

/* Whether the job is settled: it was marked, has converged, or has run for three intervals
 * without a measurement, so that it never will. */
static bool is_settled(const struct world *w, uint32_t i)
{
    const struct task *t = &w->s->tasks[w->plan->grants[i].task];
    const struct memo *m = &w->memo[i];
    return m->i[1] || m->i[0] == CONVERGED ||
           (m->i[3] < 2 &&
            task_run_time(t, w->s->now) >= SILENT_INTERVALS * param_usec(w->p, INTERVAL));
}

/* Algorithm 5. */
static void rebalance(struct world *w)
{
    usec_t cooldown = param_usec(w->p, COOLDOWN);
    uint32_t nodes = 0, idle = 0;
    for (uint32_t n = 0; n < w->s->cluster->n; n++)
        nodes += takes_jobs(w, n);
    uint32_t bf = nodes && w->jobs > nodes ? w->jobs / nodes : 1;
    for (uint32_t i = 0; i < w->plan->n; i++)
        if (w->node[i] != TASK_NONE && !is_settled(w, i))
            return;
    for (uint32_t n = 0; n < w->s->cluster->n; n++)
        if (takes_jobs(w, n) && jobs_on(w, n) == 0) {
            idle++;
            take(w, n, bf, bf, cooldown);
        }
    for (uint32_t n = 0; n < w->s->cluster->n && !idle; n++)
        if (takes_jobs(w, n))
            take(w, n, bf - 1, bf - 1, cooldown);
}

/* The list that a task is in: its category, or that it was marked or moved for balance. */
enum { SETTLED = CATEGORIES, BALANCED, LISTS };

static int list_of(const struct memo *m)
{
    if (m->i[2])
        return BALANCED;
    return m->i[1] ? SETTLED : (int)m->i[0];
}

static bool describe_specon(const struct snapshot *s, const struct params *p, uint32_t task,
                            struct remark *out)
{
    static const char *const names[LISTS] = {"progressing", "watching", "converged", "settled",
                                             "balanced"};
    static const char *const meanings[LISTS] = {
        "it is progressing", "it slows down and is watched", "it has converged",
        "it has converged and its node was chosen for good", "it was moved to balance the nodes"};
    const struct task *t = &s->tasks[task];
    const struct memo *m = &t->memo[AXIS_PLACE];
    (void)p;
    if (!task_running(t) || !task_shares_cpus(t) || m->i[0] < 0 || m->i[0] >= CATEGORIES)
        return false;
    snprintf(out->list, sizeof out->list, "%s", names[list_of(m)]);
    if (m->i[3] > 1)
        snprintf(out->text, sizeof out->text,
                 "Under specon %s: its metric last moved by %.3g %% of its first value.",
                 meanings[list_of(m)], 100 * m->d[1]);
    else
        snprintf(out->text, sizeof out->text, "Under specon %s: its growth is not known yet.",
                 meanings[list_of(m)]);
    return true;
}

static uint32_t least_used(struct room *r, const struct task *t, unsigned pool, units_t n,
                           void *ctx)
{
    (void)ctx;
    return spread_choose(r, t, pool, n, true);
}

static void place_specon(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct memo m = s->memo[AXIS_PLACE];
    struct world w;
    place_in_place(s, plan, least_used, NULL);
    world_init(&w, s, p, plan);
    if (w.jobs == 0)
        return;
    room_init_placed(&w.room, s, plan);
    if (m.i[0] <= s->now) {
        for (uint32_t i = 0; i < plan->n; i++)
            if (categorise(&w, w.order[i]))
                reallocate(&w, w.order[i]);
        m.i[0] = s->now + param_usec(p, INTERVAL);
        plan_remember(plan, AXIS_PLACE, MEMO_ALL, 0, &m);
    }
    rebalance(&w);
    for (uint32_t i = 0; i < plan->n; i++) {
        plan_remember(plan, AXIS_PLACE, MEMO_TASK, plan->grants[i].task, &w.memo[i]);
        if (w.node[i] != TASK_NONE)
            plan_enlist(plan, s, AXIS_PLACE, plan->grants[i].task,
                        (uint8_t)(1 + list_of(&w.memo[i])));
    }
    plan_wake(plan, m.i[0]);
}

static const struct param params[] = {
    [WEIGHTS + PROGRESSING] = {"progressing", PARAM_NUMBER, "2", 0, 1000, NULL,
                               "what a progressing job adds to the score of its node"},
    [WEIGHTS + WATCHING] = {"watching", PARAM_NUMBER, "1.5", 0, 1000, NULL, "a watching job"},
    [WEIGHTS + CONVERGED] = {"converged", PARAM_NUMBER, "1", 0, 1000, NULL, "a converged job"},
    [ALPHA] =
        {"alpha", PARAM_NUMBER, "0.01", 0, 1, NULL,
         "a job whose metric moves by less than this share of its first value is slowing down"},
    [INTERVAL] = {"interval", PARAM_DURATION, "30s", 0.001, 86400, NULL,
                  "how often jobs are categorised"},
    [COOLDOWN] = {"cooldown", PARAM_DURATION, "60s", 0, 86400, NULL,
                  "a job is moved for balance at most once in this time"},
    {0},
};

const struct policy policy_specon = {
    .axis = AXIS_PLACE,
    .name = "specon",
    .summary = "jobs that have nearly converged move to the node with the least demand",
    .rule =
        "New jobs go to the least used node. Every interval each job is categorised by how far "
        "its metric has moved, G, as a share of its first value: if that is less than last time "
        "and less than alpha, it goes from progressing to watching to converged; if it is more "
        "than alpha, it is progressing again. A job that stays converged while more than one job "
        "on its node has not converged asks to be moved.\n\n"
        "Nodes are scored 2 for each progressing, 1.5 for each watching and 1 for each converged "
        "job, by default. The job goes to the node with the lowest score, the least used of "
        "equals, or stays "
        "if that is its own, and is marked: this happens once per job.\n\n"
        "When all jobs have converged, or were moved, or cannot be measured, nodes are balanced: "
        "idle nodes, or if there are none those "
        "well below the mean, take the job that converged last from nodes above it.",
    .source = "Zheng, Efficient resource management for deep learning applications with virtual "
              "containers (thesis), SpeCon, 5.2",
    .params = params,
    .needs_metric = true,
    .decide = place_specon,
    .describe = describe_specon,
};
