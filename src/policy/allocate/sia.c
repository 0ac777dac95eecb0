/* sia: goodput by GPU type, fair by the sum of inverse roots.
 *
 * Every `round`, each job may get one, two, four ... units up to a node, or whole nodes, of one GPU
 * type. Its speed with each is divided by the slowest of them. The sum over all jobs of this
 * ratio^p, with p = -1/2, plus `lambda` for each job that gets nothing, is made small. A change
 * counts for less by what the job's changes have cost so far (powers.h), and a job that stands
 * still after one is left alone.
 *
 * Source: Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized ML-cluster
 * scheduling" (SOSP'23), section 3.4. Deviations: prices instead of an integer program; the powers
 * are not rounded to two digits; the costs of changes are those of the job, not constants. Sia
 * learns speeds while a job runs: here the estimator does, or `sim --learned`. */
#include "policy/allocate/powers.h"
#include "policy/policies.h"

enum { EXPONENT, LAMBDA, ROUND };

static void allocate_sia(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct powers rule = {.exponent = p->v[EXPONENT].number,
                          .none = p->v[LAMBDA].number,
                          .scale = 1,
                          .node_sizes = true,
                          .settles = true};
    powers_allocate(&rule, s, plan);
    if (s->active)
        plan_wake(plan, s->now + param_usec(p, ROUND));
}

static const struct param params[] = {
    [EXPONENT] = {"p", PARAM_NUMBER, "-0.5", -10, -0.01, NULL,
                  "exponent of the speedups; the lower the fairer"},
    [LAMBDA] = {"lambda", PARAM_NUMBER, "1.1", 1, 1000, NULL,
                "what a job without units costs; with 1 unit of the slowest type it costs 1"},
    [ROUND] = {"round", PARAM_DURATION, "1m", 1, 86400, NULL,
               "time after which the jobs are looked at again"},
    {0},
};

const struct policy policy_sia = {
    .axis = AXIS_ALLOCATE,
    .name = "sia",
    .summary = "GPU type and size by goodput, fair by the sum of inverse roots",
    .rule =
        "Each job may get one, two, four ... units up to a node, or whole nodes, of one GPU type. "
        "Its speed with each is divided by the slowest of them. The sum of this ratio^p over all "
        "jobs, plus lambda for each job that gets nothing, is made as small as possible.\n\n"
        "Another size or type than the job has counts for less, by the share of its life that it "
        "has lost to changes. A job that stands still after a change is left alone.",
    .source = "Jayaram Subramanya et al., Sia (SOSP'23)",
    .params = params,
    .weighs_costs = true,
    .weighs_sizes = true,
    .decide = allocate_sia,
};
