/* edf: earliest deadline first, with preemption. Jobs without a deadline come
 * last, in order of submission.
 *
 * Source: the classic policy; the EDF baseline of ElasticFlow.
 *
 * Under --rules elasticflow a job takes, as in that simulator, the widest size
 * that is left, even where a smaller one would be faster. */
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
    .rule = "All active jobs in order of their deadlines, then of submission; jobs without a "
            "deadline last. Each is granted what it asks for when that is left; jobs that do not "
            "fit are passed over and stopped if they run.",
    .source = "the classic policy; the EDF baseline of ElasticFlow (ASPLOS'23)",
    .decide = allocate_edf,
};
