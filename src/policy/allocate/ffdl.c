/* ffdl: the largest sum of speedups.
 *
 * Over the first K jobs by submission, K being the units of the pool, it maximises the sum of
 * S_j(n_j), where the n_j are at most K in total and each is 0 or an admissible size from min
 * to max. If all curves are concave and sizes have no gaps, giving each unit to the largest
 * marginal gain is optimal; otherwise a dynamic program corrects the last steps of that
 * (knapsack.c), so the result is exact in either case.
 *
 * Source: Jayaram et al., FfDL (Middleware'19), its elastic optimizer as in
 * Saxena et al. (2020) and Voda. */
#include "policy/allocate/knapsack.h"
#include "policy/budget.h"
#include "policy/order.h"
#include "policy/policies.h"

/* A fraction of a CPU counts as a whole one. */
static uint32_t whole_units(units_t n)
{
    return (uint32_t)((n + UNIT - 1) / UNIT);
}

/* Whole units that are not part of the choice: a pinned task keeps its minimum, and the choice
 * is what it gets beyond that. */
static uint32_t base_of(const struct task *t)
{
    return t->pinned ? whole_units(task_min(t)) : 0;
}

/* The sizes of a task in whole units above its base, and what each brings. */
static void add_options(const struct task *t, unsigned pool, struct knapsack_job *j,
                        struct arena *a)
{
    const struct speed *speed = job_speed(t->job, pool);
    uint32_t n = 1, base = base_of(t);
    double base_value = 0;
    for (units_t u = task_min(t); (u = task_next(t, pool, u)) != 0;)
        n++;
    struct knapsack_option *options = arena_raw(a, n * sizeof *options);
    j->options = options;
    for (units_t u = task_min(t); u; u = task_next(t, pool, u)) {
        uint32_t size = whole_units(u);
        double value = speed_at(speed, u);
        if (size <= base) {
            base_value = value;
            continue;
        }
        if (j->n && options[j->n - 1].size == size - base)
            j->n--;
        options[j->n++] = (struct knapsack_option){size - base, value - base_value};
    }
}

/* The chosen size in units; 0 = none. The minimum may be a fraction. */
static units_t chosen_units(const struct task *t, const struct knapsack_job *j)
{
    uint32_t size = base_of(t) + (j->chosen ? j->options[j->chosen - 1].size : 0);
    units_t most = task_max(t) < size * UNIT ? task_max(t) : size * UNIT;
    return size == 0 || most > task_min(t) ? most : task_min(t);
}

static void allocate_pool(struct budget *b, struct plan *plan, const uint32_t *order,
                          const uint8_t *pools, unsigned pool)
{
    const struct snapshot *s = b->s;
    uint32_t units = (uint32_t)(s->size[pool] / UNIT), n = 0, base = 0;
    uint32_t *mine = arena_raw(plan->arena, (s->active + 1) * sizeof *mine);
    for (uint32_t i = 0; i < s->active && n < units; i++)
        if (pools[i] == pool)
            mine[n++] = order[i];
    struct knapsack_job *jobs = ARENA_ARRAY(plan->arena, n, struct knapsack_job);
    for (uint32_t i = 0; i < n; i++) {
        add_options(&s->tasks[mine[i]], pool, &jobs[i], plan->arena);
        base += base_of(&s->tasks[mine[i]]);
    }
    knapsack_solve(jobs, n, units > base ? units - base : 0, plan->arena);
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &s->tasks[mine[i]];
        units_t chosen = chosen_units(t, &jobs[i]);
        if (chosen == 0)
            plan_deny(plan, mine[i], WHY_ORDER, TASK_NONE);
        else if (!budget_grant_in(b, plan, mine[i], pool, chosen))
            budget_grant_in(b, plan, mine[i], pool, task_min(t)); /* no node has that much */
    }
}

static void allocate_ffdl(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    const uint32_t *order = order_by_submit(s, plan);
    const uint8_t *pools = budget_pools(s, order, plan->arena);
    struct budget b;
    budget_init(&b, s, plan->arena);
    for (unsigned pool = 0; pool < s->pools; pool++)
        if (s->size[pool] >= UNIT)
            allocate_pool(&b, plan, order, pools, pool);
}

const struct policy policy_ffdl = {
    .axis = AXIS_ALLOCATE,
    .name = "ffdl",
    .summary = "the largest sum of speedups over the first K jobs (FfDL's optimizer)",
    .rule =
        "Over the first K jobs by submission, K being the number of units, the sum of S_j(n_j) is "
        "maximised, where the n_j are at most K in total and each is 0 or from min to max. If all "
        "curves are concave and start at one unit, giving each unit to the largest marginal gain "
        "is optimal; otherwise a dynamic program over the last of these steps makes the result "
        "exact.",
    .source = "Jayaram et al., FfDL (Middleware'19), elastic optimizer; Voda",
    .weighs_sizes = true,
    .decide = allocate_ffdl,
};
