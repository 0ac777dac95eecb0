/* free: jobs on a node compete for its CPUs with equal weights; each is limited only by its own
 * maximum. The grant is a reservation: it decides how many jobs run on the node at once, not
 * how much each gets.
 *
 * Source: containers started without limits, the baseline (NA) of FlowCon. */
#include "policy/policies.h"

static void share_free(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        if (g->n && g->pool == POOL_CPU)
            plan_share(plan, g->task, s->tasks[g->task].job->max, 1);
    }
}

const struct policy policy_free = {
    .axis = AXIS_SHARE,
    .name = "free",
    .summary = "jobs on a node compete for its CPUs, equal weights, no limits",
    .rule = "Every job may use up to its maximum. The CPUs of a node are divided by equal weights, "
            "and what one job leaves goes to the others. The grant is only a reservation, so jobs "
            "request their minimum.",
    .source = "containers without limits: the baseline (NA) of FlowCon",
    .soft = true,
    .decide = share_free,
};
