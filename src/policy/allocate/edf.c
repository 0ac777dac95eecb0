/* edf: earliest deadline first, with preemption. Jobs without a deadline come last, in order
 * of submission.
 *
 * Source: the classic policy; the EDF baseline of ElasticFlow.
 *
 * Under --rules elasticflow a job takes the largest size that is left, as in that simulator,
 * even if a smaller one would be faster. */
#include "policy/policies.h"
#include "policy/queue.h"

static void serve_widest(const struct snapshot *s, struct keyed *k, struct plan *plan)
{
    struct budget b;
    order_sort(k, s->active, plan->arena);
    order_publish(k, s->active, plan);
    budget_init(&b, s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        unsigned pool = t->job->pool == POOL_ANY_GPU ? POOL_GPU : t->job->pool;
        units_t most = b.free[pool] < task_max(t) ? b.free[pool] : task_max(t);
        units_t n = speed_floor(job_speed(t->job, pool), most);
        if (n >= task_min(t))
            budget_grant(&b, plan, k[i].task, n);
    }
}

static void allocate_edf(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++)
        k[i].key = (double)s->tasks[k[i].task].job->deadline;
    if (s->rules == RULES_ELASTICFLOW)
        serve_widest(s, k, plan);
    else
        queue_serve(s, k, plan);
}

const struct policy policy_edf = {
    .axis = AXIS_ALLOCATE,
    .name = "edf",
    .summary = "earliest deadline first, preemptive; no deadline comes last",
    .rule = "All jobs, running or waiting, are served in order of their deadlines, then of "
            "submission; jobs without a deadline come last. Each is granted what it requests while "
            "that is left. A job that does not fit is skipped, and stopped if it runs.",
    .source = "the classic policy; the EDF baseline of ElasticFlow (ASPLOS'23)",
    .sees_deadlines = true,
    .decide = allocate_edf,
};
