/* elastic-srjf: like elastic-fifo, in order of remaining time on one unit.
 *
 * Source: Hsieh, Voda, ElasticSRJF, with the same deviation as elastic-fifo. */
#include "policy/elastic.h"
#include "policy/policies.h"

static void allocate_elastic_srjf(const struct snapshot *s, const struct params *p,
                                  struct plan *plan)
{
    (void)p;
    struct budget b;
    elastic_minima_shortest_first(&b, s, plan);
    elastic_rounds(&b, plan, plan->order, s->active);
}

const struct policy policy_elastic_srjf = {
    .axis = AXIS_ALLOCATE,
    .name = "elastic-srjf",
    .summary = "shortest remaining first: minima, then one more unit each in rounds",
    .rule = "In order of remaining time on one unit, jobs get their minimum if it fits, otherwise "
            "nothing; then one more unit each, in rounds in the same order.",
    .source = "Hsieh, Voda scheduler, ElasticSRJF",
    .weighs_sizes = true,
    .decide = allocate_elastic_srjf,
};
