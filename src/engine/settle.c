/* Owns the hysteresis: changes that cost more than they bring are taken back, so that tasks
 * do not flap between sizes. A running task does not grow if it would not end sooner, the
 * stop included, or if its last change has not paid off yet. The units that this leaves go
 * to tasks that the plan shrinks, so that they need not change either. No sum grows, so the
 * plan stays legal. */
#include "engine/settle.h"

/* Whether the task could continue as it is. */
static bool can_stay(const struct task *t, const struct grant *g)
{
    return task_running(t) && task_keeps_size(t) && g->pool == t->pool;
}

/* A change must have lasted this many times its cost before the task grows again. */
enum { PAYBACK = 2 };

/* Whether growing brings less than it costs. Wakes the plan when the last change has paid off. */
static bool is_growth_useless(const struct task *t, const struct grant *g, usec_t now,
                              struct plan *plan)
{
    usec_t cost = t->job->cost.resize, paid = t->changed_at + PAYBACK * cost;
    double gain = task_time_on(t, g->pool, t->n, now) - task_time_on(t, g->pool, g->n, now);
    if (gain <= (double)cost)
        return true;
    if (now < paid)
        plan_wake(plan, paid);
    return now < paid;
}

void settle_plan(const struct engine *e, struct plan *plan)
{
    usec_t now = e->snapshot.now;
    units_t spare[POOLS_MAX] = {0};
    for (uint32_t i = 0; i < plan->n; i++) {
        struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (g->n <= t->n || !t->job->cost.resize || !can_stay(t, g) ||
            !is_growth_useless(t, g, now, plan))
            continue;
        spare[g->pool] += g->n - t->n;
        g->n = t->n;
        plan_deny(plan, g->task, WHY_COST, TASK_NONE);
    }
    for (uint32_t i = 0; i < plan->n; i++) {
        struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (g->n == 0 || g->n >= t->n || t->n - g->n > spare[g->pool] || t->job->whole ||
            !can_stay(t, g))
            continue;
        spare[g->pool] -= t->n - g->n;
        g->n = t->n;
    }
}
