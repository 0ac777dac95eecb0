/* srtf: shortest remaining time first, with preemption. At each decision all active jobs are
 * served in order of remaining time. That of a running job is reduced by the cost of its
 * restart, so that it makes room only for a job that is shorter by more than that.
 *
 * Source: the classic policy; "shortest" in Tiresias' simulator. */
#include "policy/policies.h"
#include "policy/queue.h"

static void allocate_srtf(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        k[i].key = queue_time_left(s, k[i].task);
        if (task_running(t))
            k[i].key -= (double)t->job->cost.restart;
    }
    queue_serve(s, k, plan);
}

const struct policy policy_srtf = {
    .axis = AXIS_ALLOCATE,
    .name = "srtf",
    .summary = "shortest remaining time first, preemptive",
    .rule =
        "All jobs, running or waiting, in order of remaining time rem / S(n), each granted what "
        "it requests while that is left. A running job is stopped only for one that is shorter by "
        "more than the cost of its restart.",
    .source = "the classic policy; 'shortest' in Tiresias' simulator",
    .decide = allocate_srtf,
};
