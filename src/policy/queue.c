/* Owns serving a queue in order, for the policies that do nothing else. */
#include "policy/queue.h"

double queue_service(const struct task *t, usec_t now, usec_t *ahead)
{
    if (!task_running(t) || t->starts < 2) {
        *ahead = 0;
        return task_attained(t, now);
    }
    usec_t stop = job_resume_cost(t->job);
    usec_t over = now - t->resumed_at < stop ? now - t->resumed_at : stop;
    *ahead = stop - over;
    return task_attained(t, now) - (double)over * (double)t->n / UNIT;
}

usec_t queue_keep_until(const struct task *t, usec_t now)
{
    enum { TIMES = 10 };
    if (!task_running(t) || t->starts < 2)
        return 0;
    usec_t cost = job_resume_cost(t->job);
    if (!cost || (now - t->resumed_at) / TIMES >= cost)
        return 0;
    return t->resumed_at + TIMES * cost;
}

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
    units_t most = budget_most(&b);
    for (uint32_t i = 0; i < s->active && (most || plan->why); i++) {
        uint32_t task = k[i].task;
        units_t n = task_asked(&s->tasks[task]);
        if (n <= most && budget_grant(&b, plan, task, n)) {
            last = task;
            most = budget_most(&b);
        } else {
            plan_deny(plan, task, WHY_ORDER, last);
        }
    }
}
