/* Owns the serving of an ordered queue, which the policies that only order jobs
 * have in common. */
#include "policy/queue.h"

double queue_time_left(const struct snapshot *s, uint32_t task)
{
    const struct task *t = &s->tasks[task];
    unsigned pool = task_running(t) || t->job->pool != POOL_ANY_GPU ? t->pool : POOL_GPU;
    return task_time_on(t, pool, task_asked(t), s->now);
}

void queue_serve(const struct snapshot *s, struct keyed *k, struct plan *plan)
{
    struct budget b;
    uint32_t last = TASK_NONE;
    order_sort(k, s->active, plan->arena);
    order_publish(k, s->active, plan);
    budget_init(&b, s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        uint32_t task = k[i].task;
        if (budget_grant(&b, plan, task, task_asked(&s->tasks[task])))
            last = task;
        else
            plan_deny(plan, task, WHY_ORDER, last);
    }
}
