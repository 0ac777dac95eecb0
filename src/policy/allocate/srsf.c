/* srsf: shortest remaining service first, with preemption: like srtf, but remaining time is
 * multiplied by units, so that a large job counts for what it takes from others.
 *
 * Source: "shortest-gpu" in Tiresias' simulator. */
#include "policy/policies.h"
#include "policy/queue.h"

static void allocate_srsf(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        double left = queue_time_left(s, k[i].task);
        if (task_running(t))
            left -= (double)t->job->cost.restart;
        k[i].key = left * (double)task_asked(t);
    }
    queue_serve(s, k, plan);
}

const struct policy policy_srsf = {
    .axis = AXIS_ALLOCATE,
    .name = "srsf",
    .summary = "shortest remaining service (time x units) first, preemptive",
    .rule =
        "All jobs, running or waiting, in order of remaining service: the remaining time on the "
        "units that they request times these units. Each is granted what it requests while that "
        "is left. The service of a running job is reduced by the cost of its restart.",
    .source = "'shortest-gpu' in Tiresias' simulator",
    .decide = allocate_srsf,
};
