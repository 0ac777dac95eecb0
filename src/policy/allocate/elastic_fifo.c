/* elastic-fifo: in order of submission, jobs get their minimum if it fits; then one more unit
 * each, in rounds in the same order, until nothing is left.
 *
 * Source: Hsieh, Voda, ElasticFIFO. Deviation: Voda's code also gives a unit to a job whose
 * minimum did not fit and which cannot run on it; here it gets none. */
#include "policy/elastic.h"
#include "policy/policies.h"

static void allocate_elastic_fifo(const struct snapshot *s, const struct params *p,
                                  struct plan *plan)
{
    (void)p;
    const uint32_t *order = order_by_submit(s, plan);
    struct budget b;
    budget_init(&b, s, plan->arena);
    elastic_minima(&b, plan, order, s->active);
    elastic_rounds(&b, plan, order, s->active);
}

const struct policy policy_elastic_fifo = {
    .axis = AXIS_ALLOCATE,
    .name = "elastic-fifo",
    .summary = "by submission: minima first, then one more unit each in rounds",
    .rule =
        "In order of submission, jobs get their minimum if it fits, otherwise nothing. What is "
        "left is given out in rounds of one more unit each, in the same order, to jobs that have "
        "units, but fewer than their maximum, until nothing is left or no job can take more.",
    .source = "Hsieh, Voda scheduler, ElasticFIFO",
    .weighs_sizes = true,
    .decide = allocate_elastic_fifo,
};
