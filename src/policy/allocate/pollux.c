/* pollux: goodput, fair by the harmonic mean.
 *
 * Every `round`, the speed of each job is divided by that with an equal share of all units, and
 * units are given so that the generalised mean of these ratios with the exponent p = -1 is large.
 * A change counts for less by what the job's changes have cost so far (powers.h).
 *
 * Source: Qiao et al., "Pollux: Co-adaptive cluster scheduling for goodput-optimized deep learning"
 * (OSDI'21), section 4.2, with the constants of its simulator: ratios are scaled so that one node
 * is 1, and 0.001 is added to each. Deviations: the sum is made large by prices instead of a
 * genetic algorithm, which ends before it has found the best; how many jobs on several nodes share
 * one is left to the placer; GPU types, which Pollux does not know, are divided as well. */
#include <math.h>

#include "policy/allocate/powers.h"
#include "policy/policies.h"

enum { EXPONENT, ROUND };

/* Nodes per unit. */
static double node_share(const struct snapshot *s)
{
    double nodes = 0, units = 0;
    unsigned pool = s->pools > POOL_GPU ? POOL_GPU : POOL_CPU;
    for (uint32_t i = 0; i < s->cluster->n; i++) {
        const struct node *n = &s->cluster->nodes[i];
        units_t size = pool == POOL_CPU ? n->cpus : n->gpus;
        nodes += size > 0;
        units += (double)size / UNIT;
    }
    return units > 0 ? nodes / units : 1;
}

static void allocate_pollux(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    const double least = 1e-3;
    double exponent = p->v[EXPONENT].number;
    struct powers rule = {.exponent = exponent,
                          .none = pow(least, exponent),
                          .scale = node_share(s),
                          .offset = least,
                          .fair_base = true};
    powers_allocate(&rule, s, plan);
    if (s->active)
        plan_wake(plan, s->now + param_usec(p, ROUND));
}

static const struct param params[] = {
    [EXPONENT] = {"p", PARAM_NUMBER, "-1", -10, -0.01, NULL,
                  "exponent of the generalised mean; the lower the fairer"},
    [ROUND] = {"round", PARAM_DURATION, "1m", 1, 86400, NULL,
               "time after which the jobs are looked at again"},
    {0},
};

const struct policy policy_pollux = {
    .axis = AXIS_ALLOCATE,
    .name = "pollux",
    .summary = "sizes by goodput, fair by the harmonic mean",
    .rule =
        "The speed of each job is divided by that with an equal share of all units. Units are "
        "given so that the generalised mean of these ratios is large; with the exponent -1 that is "
        "the harmonic mean.\n\n"
        "Another size than the job has counts for less, by the share of its life that it has lost "
        "to changes.",
    .source = "Qiao et al., Pollux (OSDI'21)",
    .params = params,
    .weighs_costs = true,
    .weighs_sizes = true,
    .decide = allocate_pollux,
};
