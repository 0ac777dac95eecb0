/* gittins: jobs by their Gittins index, which is computed from the service that
 * finished jobs took: the best ratio of the chance that the job ends within the
 * next quantum of service to the service that the quantum is expected to take.
 *
 *   G(a) = max over d of P(S - a <= d | S > a) / E[min(S - a, d) | S > a]
 *
 * for a job that has attained a, S being the service of a random finished job.
 * Quanta end at the edges of the histogram's buckets, and a job's index changes
 * when its service crosses one, so that jobs do not overtake each other all the
 * time. Before any job has finished, and past the longest one seen, the index
 * is unknown: such jobs come last, least service first.
 *
 * Source: Gu et al., Tiresias (NSDI'19), Tiresias-G. */
#include <math.h>

#include "policy/policies.h"
#include "policy/queue.h"

/* The index of a job whose service lies in bucket b; 0 = unknown. */
static double gittins_index(const struct service *h, unsigned b)
{
    double a = service_edge(b), ended = 0, spent = 0, best = 0;
    uint64_t alive = 0;
    for (unsigned i = b; i < SERVICE_BUCKETS; i++)
        alive += h->count[i];
    if (alive == 0)
        return 0;
    /* Quantum [a, edge(i+1)): `ended` jobs lie in it and took `spent` beyond a. */
    for (unsigned i = b; i < SERVICE_BUCKETS - 1; i++) {
        ended += (double)h->count[i];
        spent += h->sum[i] - a * (double)h->count[i];
        double rest = (double)alive - ended;
        double expected = spent + rest * (service_edge(i + 1) - a);
        if (expected > 0 && ended / expected > best)
            best = ended / expected;
        if (rest <= 0)
            break;
    }
    return best;
}

/* Wakes when the service of a task that will run reaches the next bucket. */
static void wake_at_next_bucket(const struct snapshot *s, uint32_t task, struct plan *plan)
{
    const struct task *t = &s->tasks[task];
    double service = task_attained(t, s->now);
    unsigned b = service_bucket(service);
    units_t n = plan_units(plan, task);
    if (!n || b + 1 >= SERVICE_BUCKETS)
        return;
    double wait = (service_edge(b + 1) - service) * UNIT / (double)n;
    if (wait >= (double)USEC_LIMIT)
        return;
    if (task_running(t))
        plan_wake(plan, s->now + (usec_t)ceil(wait) + 1);
    else
        plan_wake_started(plan, s->now + (usec_t)ceil(wait) + 1);
}

static void allocate_gittins(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    double *known = ARENA_ARRAY(plan->arena, SERVICE_BUCKETS, double);
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        double service = task_attained(t, s->now);
        unsigned b = service_bucket(service);
        if (known[b] == 0) {
            double g = gittins_index(s->finished, b);
            known[b] = g > 0 ? g : -1;
        }
        /* Larger index first; behind them the unknown by their service. */
        k[i].rank = 2 * k[i].rank + (known[b] < 0);
        k[i].key = known[b] < 0 ? service_edge(b) : -known[b];
        k[i].tie = t->started_at != USEC_NEVER ? t->started_at : t->job->submit;
    }
    queue_serve(s, k, plan);
    for (uint32_t i = 0; i < s->active; i++)
        wake_at_next_bucket(s, k[i].task, plan);
}

const struct policy policy_gittins = {
    .axis = AXIS_ALLOCATE,
    .name = "gittins",
    .summary = "by the Gittins index of the service finished jobs took (Tiresias-G), preemptive",
    .rule =
        "Every job gets the index G(a) = max over d of P(S - a <= d | S > a) / E[min(S - a, d) | "
        "S > a], a being the service it has attained (units x seconds) and S that of the jobs "
        "that have finished so far. The largest index is served first, all or nothing at what "
        "the job asks for; equal ones by first start, else submission.\n\n"
        "Service is counted in buckets, eight to every factor of ten. While no job has "
        "finished, or for one that has run longer than any before, the index is unknown: these "
        "come last, least service first.",
    .source = "Gu et al., Tiresias (NSDI'19), Tiresias-G",
    .decide = allocate_gittins,
};
