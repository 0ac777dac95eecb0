/* Owns the steps of elastic allocators. A task whose minimum does not fit gets nothing. */
#include "policy/elastic.h"

#include <math.h>

#include "policy/bids.h"

void elastic_minima(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n)
{
    uint32_t last = TASK_NONE;
    for (uint32_t i = 0; i < n; i++) {
        if (!plan->why && budget_most(b) == 0)
            break;
        if (budget_grant_least(b, plan, order[i]))
            last = order[i];
        else
            plan_deny(plan, order[i], WHY_ORDER, last);
    }
}

void elastic_minima_shortest_first(struct budget *b, const struct snapshot *s, struct plan *plan)
{
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++)
        k[i].key = task_remaining(&s->tasks[k[i].task], s->now);
    order_sort(k, s->active, plan->arena);
    order_publish(k, s->active, plan);
    budget_init(b, s, plan->arena);
    elastic_minima(b, plan, plan->order, s->active);
}

/* A task that has less than one CPU takes what is left, even if that is less than a step. */
static void take_rest(struct budget *b, struct grant *g, uint32_t task)
{
    const struct job *j = b->s->tasks[task].job;
    if (g->pool != POOL_CPU || g->n >= UNIT)
        return;
    units_t rest = budget_room(b, task, g->pool, g->n);
    units_t to = speed_floor(job_speed(j, g->pool), g->n + rest);
    if (to > g->n && to >= j->min && budget_grow(b, task, g->pool, g->n, to))
        g->n = to;
}

/* Gives the task one step more; false if there is none or it does not fit. */
static bool step_up(struct budget *b, struct plan *plan, uint32_t task)
{
    struct grant *g = plan_grant(plan, task);
    units_t next = task_next(&b->s->tasks[task], g->pool, g->n);
    if (!next) {
        plan_deny(plan, task, WHY_BALANCED, TASK_NONE);
        return false;
    }
    if (!budget_grow(b, task, g->pool, g->n, next)) {
        take_rest(b, g, task);
        plan_deny(plan, task, WHY_NO_ROOM, TASK_NONE);
        return false;
    }
    g->n = next;
    return true;
}

void elastic_rounds(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n)
{
    uint32_t *open = arena_raw(plan->arena, (n + 1) * sizeof *open), left = 0;
    for (uint32_t i = 0; i < n; i++)
        if (plan_units(plan, order[i]))
            open[left++] = order[i];
    while (left) {
        uint32_t still = 0;
        for (uint32_t i = 0; i < left; i++)
            if (step_up(b, plan, open[i]))
                open[still++] = open[i];
        left = still;
    }
}

double elastic_speedup_gain(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                            units_t next)
{
    const struct speed *speed = job_speed(s->tasks[task].job, pool);
    return speed_at(speed, next) - speed_at(speed, n);
}

struct elastic_step elastic_best_step(const struct budget *b, const struct plan *plan,
                                      uint32_t task, elastic_gain gain)
{
    const struct task *t = &b->s->tasks[task];
    const struct grant *g = plan_grant(plan, task);
    const struct speed *speed = job_speed(t->job, g->pool);
    units_t most = g->n + budget_room(b, task, g->pool, g->n);
    bool concave = !speed->at || speed->concave;
    struct elastic_step best = {0};
    units_t next = task_next(t, g->pool, g->n);
    for (; next && next <= most; next = concave ? 0 : task_next(t, g->pool, next)) {
        double per_unit = gain(b->s, task, g->pool, g->n, next) * UNIT / (double)(next - g->n);
        if (per_unit > best.gain * (1 + 1e-12)) /* of equal steps the smallest */
            best = (struct elastic_step){next, per_unit};
    }
    return best;
}

/* Says why the task gets no further step. */
static void deny_step(struct budget *b, struct plan *plan, uint32_t task)
{
    struct grant *g = plan_grant(plan, task);
    units_t next = task_next(&b->s->tasks[task], g->pool, g->n);
    bool fits = next && next - g->n <= budget_room(b, task, g->pool, g->n);
    if (next && !fits)
        take_rest(b, g, task);
    plan_deny(plan, task, !next ? WHY_BALANCED : fits ? WHY_NO_GAIN : WHY_NO_ROOM, TASK_NONE);
}

void elastic_by_gain(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n,
                     elastic_gain gain)
{
    struct bids bids;
    bids_init(&bids, n, plan->arena);
    for (uint32_t i = 0; i < n; i++)
        if (plan_units(plan, order[i]))
            bids_push(&bids, INFINITY, i);
    while (bids.n) {
        struct bid top = bids_top(&bids);
        uint32_t task = order[top.at];
        struct elastic_step step = elastic_best_step(b, plan, task, gain);
        if (!step.to) {
            deny_step(b, plan, task);
            bids_pop(&bids);
        } else if (step.gain < top.key) { /* less is left, or it has grown since it bid */
            bids_replace(&bids, step.gain);
        } else {
            struct grant *g = plan_grant(plan, task);
            budget_grow(b, task, g->pool, g->n, step.to);
            g->n = step.to;
        }
    }
}
