/* ffdl: the units go where the sum of all speedups is largest.
 *
 * Over the first K jobs by submission, K being the pool's units, it maximises
 * the sum of S_j(n_j) with the n_j within K in all and each 0 or an admissible
 * size from min to max: a dynamic program over jobs and units. When all curves
 * are concave, sizes have no gaps and every minimum is one unit, giving each
 * unit to the largest marginal gain reaches the same optimum in O(K log J) and
 * is used instead.
 *
 * Source: Jayaram et al., FfDL (Middleware'19), its elastic optimizer as in
 * Saxena et al. (2020) and Voda. */
#include <math.h>

#include "policy/elastic.h"
#include "policy/policies.h"

/* The pool that a task competes in: its own, or the largest GPU pool. */
static unsigned pool_of(const struct snapshot *s, const struct task *t)
{
    unsigned best = POOL_GPU;
    if (task_running(t) || t->job->pool != POOL_ANY_GPU)
        return t->pool;
    for (unsigned p = POOL_GPU; p < s->pools; p++)
        if (s->size[p] > s->size[best])
            best = p;
    return best;
}

/* Whether one more unit at a time, starting from one, is always possible and
 * brings less each time. */
static bool is_simple(const struct task *t, unsigned pool)
{
    const struct speed *speed = job_speed(t->job, pool);
    if (t->job->min != UNIT || task_min(t) != UNIT || task_max(t) % UNIT || !speed->concave)
        return false;
    for (units_t n = UNIT; n < task_max(t); n += UNIT)
        if (speed_next(speed, n, task_max(t)) != n + UNIT)
            return false;
    return true;
}

/* best[c] = largest sum of speedups of the jobs seen so far with c units. */
static void add_job(const struct task *t, unsigned pool, double *best, uint16_t *choice,
                    uint32_t units)
{
    const struct speed *speed = job_speed(t->job, pool);
    for (uint32_t c = units + 1; c-- > 0;) {
        double top = best[c];
        choice[c] = 0;
        units_t n = task_min(t);
        for (; n && n <= (units_t)c * UNIT; n = speed_next(speed, n, task_max(t))) {
            uint32_t whole = (uint32_t)((n + UNIT - 1) / UNIT);
            double sum = best[c - whole] + speed_at(speed, n);
            if (sum > top) {
                top = sum;
                choice[c] = (uint16_t)whole;
            }
        }
        best[c] = top;
    }
}

static units_t size_in(const struct task *t, uint32_t whole)
{
    units_t n = (units_t)whole * UNIT;
    return n < task_max(t) ? n : task_max(t);
}

static void solve(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n,
                  unsigned pool, uint32_t units)
{
    double *best = ARENA_ARRAY(plan->arena, units + 1, double);
    uint16_t *choice = arena_raw(plan->arena, (size_t)n * (units + 1) * sizeof *choice);
    uint16_t *sizes = ARENA_ARRAY(plan->arena, n, uint16_t);
    /* Last job first, so that of equal sums the one that serves the earlier
     * jobs is read back. */
    for (uint32_t i = n; i-- > 0;)
        add_job(&b->s->tasks[order[i]], pool, best, choice + (size_t)i * (units + 1), units);
    for (uint32_t i = 0, c = units; i < n; i++) {
        sizes[i] = choice[(size_t)i * (units + 1) + c];
        c -= sizes[i];
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct task *t = &b->s->tasks[order[i]];
        if (sizes[i] == 0)
            plan_deny(plan, order[i], WHY_ORDER, TASK_NONE);
        else if (!budget_grant(b, plan, order[i], size_in(t, sizes[i])))
            budget_grant(b, plan, order[i], task_min(t));
    }
}

static void allocate_pool(struct budget *b, struct plan *plan, const uint32_t *order,
                          unsigned pool)
{
    const struct snapshot *s = b->s;
    uint32_t units = (uint32_t)(s->size[pool] / UNIT), n = 0;
    uint32_t *mine = arena_raw(plan->arena, (s->active + 1) * sizeof *mine);
    bool simple = true;
    for (uint32_t i = 0; i < s->active && n < units; i++) {
        const struct task *t = &s->tasks[order[i]];
        if (pool_of(s, t) != pool)
            continue;
        simple = simple && is_simple(t, pool);
        mine[n++] = order[i];
    }
    if (simple) {
        elastic_minima(b, plan, mine, n);
        elastic_by_gain(b, plan, mine, n, elastic_speedup_gain);
    } else {
        solve(b, plan, mine, n, pool, units);
    }
}

static void allocate_ffdl(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    const uint32_t *order = order_by_submit(s, plan);
    struct budget b;
    budget_init(&b, s, plan->arena);
    for (unsigned pool = 0; pool < s->pools; pool++)
        if (s->size[pool] >= UNIT)
            allocate_pool(&b, plan, order, pool);
}

const struct policy policy_ffdl = {
    .axis = AXIS_ALLOCATE,
    .name = "ffdl",
    .summary = "the largest sum of speedups over the first K jobs (FfDL's optimizer)",
    .rule = "Over the first K jobs by submission, K being the number of units, maximise the sum of "
            "S_j(n_j) with the n_j within K in all and each 0 or from min to max. A dynamic program; "
            "when all curves are concave and start at one unit, the greedy by marginal gain gives "
            "the same optimum and is used.",
    .source = "Jayaram et al., FfDL (Middleware'19), elastic optimizer; Voda",
    .decide = allocate_ffdl,
};
