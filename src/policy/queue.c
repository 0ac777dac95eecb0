/* Owns the serving of an ordered queue, which the policies that only order jobs
 * have in common. */
#include "policy/queue.h"

double queue_time_left(const struct snapshot *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    return task_time_on(t, budget_pool(s, t), task_asked(t), s->now);
}

void queue_serve(const struct snapshot *s, struct keyed *k, struct plan *plan)
{
    if (order_sort(k, s->active, plan->arena))
        order_publish(k, s->active, plan);
    queue_grant(s, k, plan);
}

void queue_grant(const struct snapshot *s, const struct keyed *k, struct plan *plan)
{
    struct budget b;
    uint32_t last = TASK_NONE;
    budget_init(&b, s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        uint32_t task = k[i].task;
        if (!plan->why && budget_empty(&b))
            break;
        if (budget_grant(&b, plan, task, task_asked(&s->tasks[task])))
            last = task;
        else
            plan_deny(plan, task, WHY_ORDER, last);
    }
}
