/* elastic-las: the queues of las with each job at its minimum, then further units where they
 * speed up a job most.
 *
 * Phase 1 serves the queues of least attained service, each job at its minimum. Phase 2: while
 * more than `compact` jobs wait, jobs that were demoted stay at their minimum, so that the
 * queue drains; all others may grow. Each further unit goes to the largest marginal gain
 * S(n+1) - S(n), ties to the higher queue. It stops when nothing is gained.
 *
 * Source: Hsieh, Voda, ElasticTiresias. */
#include "policy/allocate/las.h"
#include "policy/elastic.h"
#include "policy/policies.h"

enum { COMPACT = LAS_PARAMS };

static void allocate_elastic_las(const struct snapshot *s, const struct params *p,
                                 struct plan *plan)
{
    struct las l;
    las_init(&l, p);
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        k[i].key = las_rank(&l, s, k[i].task, plan);
        k[i].tie = task_since(&s->tasks[k[i].task]);
    }
    order_sort(k, s->active, plan->arena);
    order_publish(k, s->active, plan);
    struct budget b;
    budget_init(&b, s, plan->arena);
    elastic_minima(&b, plan, plan->order, s->active);
    uint32_t *may_grow = arena_raw(plan->arena, (s->active + 1) * sizeof *may_grow), n = 0;
    bool compact = s->active - plan->n > p->v[COMPACT].number;
    for (uint32_t i = 0; i < s->active; i++)
        if (!compact || k[i].key == 0)
            may_grow[n++] = k[i].task;
    elastic_by_gain(&b, plan, may_grow, n, elastic_speedup_gain);
    las_wake(&l, s, k, plan);
}

static const struct param params[] = {
    LAS_PARAM_ROWS,
    [COMPACT] = {"compact", PARAM_NUMBER, "10", 0, 1e9, NULL,
                 "while more jobs than this wait, demoted ones stay at their minimum"},
    {0},
};

const struct policy policy_elastic_las = {
    .axis = AXIS_ALLOCATE,
    .name = "elastic-las",
    .summary = "least attained service at the minima, then units where they speed up most",
    .rule =
        "Phase 1: the queues of las, each job at its minimum.\n\n"
        "Phase 2: each further unit goes to the job with the largest marginal gain S(n+1) - S(n), "
        "ties to the higher queue; it stops when nothing is gained. While more than compact jobs "
        "wait, jobs that were demoted stay at their minimum.",
    .source = "Hsieh, Voda scheduler, ElasticTiresias",
    .params = params,
    .weighs_sizes = true,
    .decide = allocate_elastic_las,
};
