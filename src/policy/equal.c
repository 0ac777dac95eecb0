/* equal: the cores of a node are divided evenly between its malleable jobs,
 * within each one's min and max, remainders to the oldest, anew at each arrival
 * and exit.
 *
 * variant=oldest: the oldest takes up to its maximum first, then the next.
 * variant=weight: in proportion to the jobs' weights.
 * variant=static: what a job asked for when it started, never changed: the
 * baseline.
 *
 * Jobs that must be whole are divided by node: a running one on its own, a new
 * one on the node with the fewest jobs that still has room for its minimum.
 * Other jobs divide the whole pool.
 *
 * Source: Libutti, "Scheduling elastic machine learning processes through
 * containers" (thesis, UNLP 2023). */
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

/* Takes the minimum on a node of our choice: the budget counts a waiting task
 * on the tightest node, here it shall be the one with the fewest tasks. */
static bool seat(struct budget *b, struct plan *plan, uint32_t task, uint32_t *count)
{
    const struct task *t = &b->s->tasks[task];
    uint32_t best = TASK_NONE;
    unsigned pool = t->job->pool;
    units_t n = task_min(t);
    for (uint32_t i = room_first(&b->room, t->job, pool, n, 0); i != TASK_NONE;
         i = room_first(&b->room, t->job, pool, n, i + 1))
        if (best == TASK_NONE || count[i] < count[best])
            best = i;
    if (best == TASK_NONE || b->free[pool] < n)
        return false;
    room_take(&b->room, t->job, pool, best, n, false);
    b->node_of[task] = best;
    b->free[pool] -= n;
    plan_give(plan, task, pool, n);
    return true;
}

/* Minima of all tasks, oldest first; running ones before those that wait. */
static void seat_all(struct budget *b, struct plan *plan, const uint32_t *order)
{
    const struct snapshot *s = b->s;
    uint32_t *count = ARENA_ARRAY(plan->arena, s->cluster->n, uint32_t);
    for (int waiting = 0; waiting < 2; waiting++)
        for (uint32_t i = 0; i < s->active; i++) {
            const struct task *t = &s->tasks[order[i]];
            if (task_running(t) == waiting)
                continue;
            bool choose =
                waiting && t->job->whole && t->phase == TASK_QUEUED && t->job->pool != POOL_ANY_GPU;
            bool seated = choose ? seat(b, plan, order[i], count)
                                 : budget_grant(b, plan, order[i], task_min(t));
            if (!seated)
                plan_deny(plan, order[i], WHY_NO_ROOM, TASK_NONE);
            else if (t->job->whole)
                count[b->node_of[order[i]]]++;
        }
}

/* Tasks that hold units, those counted by node sorted by it, then the others. */
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

static const struct param params[] = {
    [VARIANT] = {"variant", PARAM_CHOICE, "even", 0, 0, "even|oldest|weight|static",
                 "how a node's cores are divided among its jobs"},
    {0},
};

const struct policy policy_equal = {
    .axis = AXIS_ALLOCATE,
    .name = "equal",
    .summary = "a node's cores divided evenly between its malleable jobs",
    .rule =
        "Every job gets its minimum, oldest first. What is left of a node is divided so that its "
        "jobs hold the same, within min and max, remainders to the oldest; it is divided anew "
        "at each arrival and exit.\n\n"
        "variant=oldest: the oldest takes up to its maximum first. variant=weight: in proportion "
        "to the weights. variant=static: what a job asked for at its start, for comparison.",
    .source = "Libutti, Scheduling elastic machine learning processes through containers (2023)",
    .params = params,
    .decide = allocate_equal,
};
