/* srsf: shortest remaining service first, with preemption: like srtf, with the
 * remaining time times the units, so that a wide job counts for what it takes
 * from others.
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
    .rule = "All active jobs in order of remaining service, the remaining time on the units they "
            "ask for times these units, each granted what it asks for when that is left. A job "
            "that runs is ahead by the cost of its restart.",
    .source = "'shortest-gpu' in Tiresias' simulator",
    .decide = allocate_srsf,
};
