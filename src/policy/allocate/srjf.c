/* srjf: shortest remaining job first, without preemption. Waiting jobs are ordered by their
 * remaining time on what they request; running jobs keep what they hold.
 *
 * Source: Voda's SRJF; Schedulearn's future work. */
#include "policy/policies.h"
#include "policy/queue.h"

static void allocate_srjf(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        bool running = task_running(&s->tasks[k[i].task]);
        k[i].rank = running ? INT64_MIN : k[i].rank;
        k[i].key = running ? 0 : queue_time_left(s, k[i].task);
    }
    queue_serve(s, k, plan);
}

const struct policy policy_srjf = {
    .axis = AXIS_ALLOCATE,
    .name = "srjf",
    .summary = "shortest remaining job first; running jobs are left alone",
    .rule =
        "Running jobs keep what they hold. Waiting jobs start in order of their remaining time on "
        "the units that they request, rem / S(req); those that do not fit are skipped.",
    .source = "Voda (SRJF); Schedulearn, future work",
    .decide = allocate_srjf,
};
