/* hard: every job may use exactly the CPUs that it was granted.
 *
 * Source: the CPU limit of a container (docker run --cpus). */
#include "policy/share/hard.h"

#include "policy/policies.h"

void share_limit_to_grants(struct plan *plan)
{
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        if (g->n && g->pool == POOL_CPU)
            plan_share(plan, g->task, g->n, 1);
    }
}

static void share_hard(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)s;
    (void)p;
    share_limit_to_grants(plan);
}

const struct policy policy_hard = {
    .axis = AXIS_SHARE,
    .name = "hard",
    .summary = "each job has exactly the CPUs that it was granted",
    .rule = "The CPU limit of a job is its grant. What it does not use is left idle.",
    .source = "the CPU limit of a container",
    .decide = share_hard,
};
