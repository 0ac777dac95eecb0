/* Owns the steps of elastic allocators. A task whose minimum does not fit gets nothing. */
#include "policy/elastic.h"

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
    units_t rest = b->free[g->pool];
    if (g->pool != POOL_CPU || g->n >= UNIT)
        return;
    if (j->whole) {
        units_t here = room_for(&b->room, j, g->pool, b->node_of[task], true);
        rest = here < rest ? here : rest;
    }
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

/* What the task's next step brings per unit; 0 if it has none. */
static double bid_for(const struct budget *b, const struct plan *plan, uint32_t task,
                      elastic_gain gain)
{
    const struct grant *g = plan_grant(plan, task);
    units_t next = task_next(&b->s->tasks[task], g->pool, g->n);
    return next ? gain(b->s, task, g->pool, g->n, next) * UNIT / (double)(next - g->n) : 0;
}

void elastic_by_gain(struct budget *b, struct plan *plan, const uint32_t *order, uint32_t n,
                     elastic_gain gain)
{
    struct bids bids;
    bids_init(&bids, n, plan->arena);
    for (uint32_t i = 0; i < n; i++) {
        if (!plan_units(plan, order[i]))
            continue;
        double bid = bid_for(b, plan, order[i], gain);
        if (bid > 0)
            bids_push(&bids, bid, i);
        else
            plan_deny(plan, order[i], WHY_NO_GAIN, TASK_NONE);
    }
    while (bids.n) {
        uint32_t task = order[bids_top(&bids).at];
        double bid = step_up(b, plan, task) ? bid_for(b, plan, task, gain) : 0;
        if (bid > 0)
            bids_replace(&bids, bid);
        else
            bids_pop(&bids);
    }
}
