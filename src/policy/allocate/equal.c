/* equal: the cores of a node are divided evenly among its malleable jobs, within the min and
 * max of each, remainders to the oldest. They are divided again whenever a job arrives or
 * ends.
 *
 * variant=oldest: the oldest takes up to its maximum first, then the next.
 * variant=weight: in proportion to the jobs' weights.
 * variant=static: what a job requests when it starts, never changed: the baseline.
 *
 * Jobs that must fit on one node are divided by node: a running job on its own, a new job on
 * the node that gives it most, which is the cores that the node's jobs leave idle, or an equal
 * part of all; among equal nodes, the one with the fewest jobs. It is placed there, because
 * the jobs there make room for it. Other jobs divide the whole pool.
 *
 * Source: Libutti, "Scheduling elastic machine learning process through
 * containers" (thesis, National University of La Plata). */
#include <stdio.h>

#include "policy/elastic.h"
#include "policy/policies.h"

enum { VARIANT };
enum { VARIANT_EVEN, VARIANT_OLDEST, VARIANT_WEIGHT, VARIANT_STATIC };

/* The next step goes to the task with the least so far, ties to the oldest. */
static double even(const struct snapshot *s, uint32_t task, unsigned pool, units_t n, units_t next)
{
    (void)s, (void)task, (void)pool;
    return (double)(next - n) / (double)(n + 1);
}

static double weighted(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                       units_t next)
{
    return s->tasks[task].job->weight * even(s, task, pool, n, next);
}

/* All equal: the oldest takes what it can. */
static double oldest(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                     units_t next)
{
    (void)s, (void)task, (void)pool;
    return (double)(next - n);
}

static void divide(struct budget *b, struct plan *plan, const uint32_t *group, uint32_t n,
                   unsigned variant)
{
    static const elastic_gain gains[] = {
        [VARIANT_EVEN] = even, [VARIANT_OLDEST] = oldest, [VARIANT_WEIGHT] = weighted};
    elastic_by_gain(b, plan, group, n, gains[variant]);
}

/* What is counted for a node. */
struct seats {
    uint32_t tasks;
    units_t wish; /* what these tasks would take beyond their minima */
};

static void count_seat(struct seats *node, const struct task *t)
{
    node->tasks++;
    node->wish += task_max(t) - task_min(t);
}

/* Roughly what the task would get on the node after its cores are divided. */
static units_t part(const struct budget *b, const struct task *t, unsigned pool, uint32_t node,
                    const struct seats *seats)
{
    units_t idle = room_for(&b->room, t->job, pool, node, false) - seats->wish;
    units_t even = node_size(&b->s->cluster->nodes[node], pool) / (seats->tasks + 1);
    units_t most = idle > even ? idle : even;
    return most < task_max(t) ? most : task_max(t);
}

/* Takes the minimum on the node that gives the task most. The budget would count a waiting
 * task on the tightest node. */
static bool seat_best(struct budget *b, struct plan *plan, uint32_t task, const struct seats *seats)
{
    const struct task *t = &b->s->tasks[task];
    uint32_t best = TASK_NONE;
    unsigned pool = t->job->pool;
    units_t n = task_min(t), most = 0;
    for (uint32_t i = room_first(&b->room, t->job, pool, n, 0); i != TASK_NONE;
         i = room_first(&b->room, t->job, pool, n, i + 1)) {
        units_t here = part(b, t, pool, i, &seats[i]);
        if (best == TASK_NONE || here > most ||
            (here == most && seats[i].tasks < seats[best].tasks)) {
            best = i;
            most = here;
        }
    }
    if (best == TASK_NONE || b->free[pool] < n)
        return false;
    room_take(&b->room, t->job, pool, best, n, false);
    b->node_of[task] = best;
    b->free[pool] -= n;
    plan_give(plan, task, pool, n);
    plan_grant(plan, task)->on = best + 1;
    return true;
}

/* Grants the minima of all tasks, running ones before waiting ones, oldest first. */
static void seat_all(struct budget *b, struct plan *plan, const uint32_t *order)
{
    const struct snapshot *s = b->s;
    struct seats *seats = ARENA_ARRAY(plan->arena, s->cluster->n, struct seats);
    for (int waiting = 0; waiting < 2; waiting++)
        for (uint32_t i = 0; i < s->active; i++) {
            const struct task *t = &s->tasks[order[i]];
            if (task_running(t) == waiting)
                continue;
            bool choose =
                waiting && t->job->whole && t->phase == TASK_QUEUED && t->job->pool != POOL_ANY_GPU;
            bool seated = choose ? seat_best(b, plan, order[i], seats)
                                 : budget_grant_least(b, plan, order[i]);
            if (!seated)
                plan_deny(plan, order[i], WHY_NO_ROOM, TASK_NONE);
            else if (t->job->whole)
                count_seat(&seats[b->node_of[order[i]]], t);
        }
}

/* Divides what is left: by node among tasks that are counted by node, then the pool among
 * the others. */
static void divide_all(struct budget *b, struct plan *plan, const uint32_t *order, unsigned variant)
{
    const struct snapshot *s = b->s;
    uint32_t nodes = s->cluster->n,
             *group = arena_raw(plan->arena, (s->active + 1) * sizeof *group);
    uint32_t *start = ARENA_ARRAY(plan->arena, nodes + 2, uint32_t);
    for (uint32_t i = 0; i < s->active; i++)
        if (plan_units(plan, order[i]))
            start[1 + (s->tasks[order[i]].job->whole ? b->node_of[order[i]] : nodes)]++;
    for (uint32_t i = 0; i <= nodes; i++)
        start[i + 1] += start[i];
    uint32_t *fill = arena_raw(plan->arena, (nodes + 1) * sizeof *fill);
    memcpy(fill, start, (nodes + 1) * sizeof *fill);
    for (uint32_t i = 0; i < s->active; i++)
        if (plan_units(plan, order[i]))
            group[fill[s->tasks[order[i]].job->whole ? b->node_of[order[i]] : nodes]++] = order[i];
    for (uint32_t i = 0; i <= nodes; i++)
        if (start[i + 1] > start[i])
            divide(b, plan, group + start[i], start[i + 1] - start[i], variant);
}

static void allocate_equal(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    unsigned variant = (unsigned)p->v[VARIANT].number;
    const uint32_t *order = order_by_submit(s, plan);
    struct budget b;
    budget_init(&b, s, plan->arena);
    if (variant == VARIANT_STATIC) {
        budget_keep_running(&b, plan);
        for (uint32_t i = 0; i < s->active; i++)
            if (!task_running(&s->tasks[order[i]]))
                budget_grant(&b, plan, order[i], task_asked(&s->tasks[order[i]]));
        return;
    }
    budget_count_by_node(&b);
    seat_all(&b, plan, order);
    divide_all(&b, plan, order, variant);
}

/* How many tasks divide the node's units of this pool, the task included. */
static uint32_t sharers(const struct snapshot *s, const struct task *t, double *weights)
{
    const struct node *node = &s->cluster->nodes[t->at.at[0].node];
    uint32_t n = 0;
    *weights = 0;
    for (size_t i = 0; i < node->tasks.n; i++) {
        const struct task *other = &s->tasks[node->tasks.at[i]];
        if (!task_running(other) || other->pool != t->pool)
            continue;
        n++;
        *weights += other->job->weight;
    }
    return n;
}

static bool describe_equal(const struct snapshot *s, const struct params *p, uint32_t task,
                           struct remark *out)
{
    static const char *const rules[] = {"in equal parts", "the oldest first", "by weight"};
    const struct task *t = &s->tasks[task];
    unsigned variant = (unsigned)p->v[VARIANT].number;
    const char *kind = t->pool == POOL_CPU ? "CPUs" : "GPUs";
    double weights, has = (double)t->n / UNIT;
    if (!task_running(t))
        return false;
    if (variant == VARIANT_STATIC) {
        snprintf(out->text, sizeof out->text,
                 "Under equal:variant=static it keeps the %g %s that it started with.", has, kind);
        return true;
    }
    uint32_t n = sharers(s, t, &weights);
    units_t all = node_size(&s->cluster->nodes[t->at.at[0].node], t->pool);
    int used =
        snprintf(out->text, sizeof out->text,
                 "Under equal the %g %s of its node are divided %s among %u job%s: it has %g",
                 (double)all / UNIT, kind, rules[variant], n, n == 1 ? "" : "s", has);
    if (variant == VARIANT_WEIGHT)
        snprintf(out->text + used, sizeof out->text - (size_t)used, " for its weight of %g of %g.",
                 t->job->weight, weights);
    else
        snprintf(out->text + used, sizeof out->text - (size_t)used, ".");
    return true;
}

static const struct param params[] = {
    [VARIANT] = {"variant", PARAM_CHOICE, "even", 0, 0, "even|oldest|weight|static",
                 "how a node's cores are divided among its jobs"},
    {0},
};

const struct policy policy_equal = {
    .axis = AXIS_ALLOCATE,
    .name = "equal",
    .summary = "a node's cores divided evenly among its malleable jobs",
    .rule =
        "Every job gets its minimum, running jobs first, then the oldest. What is left of a node "
        "is divided so that its jobs hold the same, within min and max, remainders to the oldest. "
        "It is divided again whenever a job arrives or ends.\n\n"
        "variant=oldest: the oldest takes up to its maximum first. variant=weight: in proportion "
        "to the weights. variant=static: what a job requests when it starts, for comparison.",
    .source = "Libutti, Scheduling elastic machine learning process through containers (thesis)",
    .params = params,
    .weighs_sizes = true,
    .decide = allocate_equal,
    .describe = describe_equal,
};
