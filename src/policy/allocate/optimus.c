/* optimus: minima in order of remaining time, then each further unit to the job whose
 * remaining time it shortens most, times its weight.
 *
 * Source: Peng et al., Optimus (EuroSys'18), the greedy marginal allocation for workers. The
 * published rule also allocates parameter servers, which collective training does not have. */
#include "policy/elastic.h"
#include "policy/policies.h"

static double time_saved(const struct snapshot *s, uint32_t task, unsigned pool, units_t n,
                         units_t next)
{
    const struct task *t = &s->tasks[task];
    return t->job->weight *
           (task_time_on(t, pool, n, s->now) - task_time_on(t, pool, next, s->now));
}

static void allocate_optimus(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    struct budget b;
    elastic_minima_shortest_first(&b, s, plan);
    elastic_by_gain(&b, plan, plan->order, s->active, time_saved);
}

const struct policy policy_optimus = {
    .axis = AXIS_ALLOCATE,
    .name = "optimus",
    .summary = "each further unit where it shortens the remaining time most",
    .rule =
        "Every job gets its minimum, shortest remaining first. Each further unit goes to the job "
        "with the largest reduction rem/S(n) - rem/S(n+1), times its weight; it stops when "
        "nothing is reduced.",
    .source = "Peng et al., Optimus (EuroSys'18)",
    .weighs_sizes = true,
    .decide = allocate_optimus,
};
