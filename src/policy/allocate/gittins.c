/* gittins: jobs by their Gittins index, which is computed from the service of finished jobs:
 * the best ratio of the chance that the job ends within the next quanta of service to the
 * service that this is expected to take.
 *
 *   G(a) = max over d of P(S - a <= d | S > a) / E[min(S - a, d) | S > a]
 *
 * for a job that has attained a, where S is the service of a random finished job. Quanta end
 * at edges of the histogram's buckets that are `quantum` or more apart. A job is rated as it
 * was at the start of its quantum, and both a and a + d are ends of quanta: it is served for
 * a whole quantum before its index can fall, so that jobs about which little is known do not
 * take turns all the time. Before any job has finished, and beyond the longest one seen, the
 * index is unknown: such jobs come last, least service first.
 *
 * Source: Gu et al., Tiresias (NSDI'19), Tiresias-G. */
#include <math.h>

#include "policy/policies.h"
#include "policy/queue.h"

enum { QUANTUM };

/* By bucket: the first bucket of its quantum. */
struct quanta {
    unsigned first[SERVICE_BUCKETS];
};

static void quanta_init(struct quanta *q, double least)
{
    unsigned first = 0;
    for (unsigned b = 0; b < SERVICE_BUCKETS; b++) {
        if (service_edge(b) - service_edge(first) >= least)
            first = b;
        q->first[b] = first;
    }
}

/* Whether a quantum starts with this bucket. */
static bool quanta_edge(const struct quanta *q, unsigned bucket)
{
    return q->first[bucket] == bucket;
}

/* The index of a job whose quantum starts with bucket b; 0 = unknown. */
static double gittins_index(const struct service *h, const struct quanta *q, unsigned b)
{
    double a = service_edge(b), ended = 0, spent = 0, best = 0;
    uint64_t alive = 0;
    for (unsigned i = b; i < SERVICE_BUCKETS; i++)
        alive += h->count[i];
    if (alive == 0)
        return 0;
    /* d = edge(i+1) - a: `ended` jobs are below that edge and took `spent` beyond a. */
    for (unsigned i = b; i < SERVICE_BUCKETS - 1; i++) {
        ended += (double)h->count[i];
        spent += h->sum[i] - a * (double)h->count[i];
        if (!quanta_edge(q, i + 1))
            continue;
        double rest = (double)alive - ended;
        double expected = spent + rest * (service_edge(i + 1) - a);
        if (expected > 0 && ended / expected > best)
            best = ended / expected;
        if (rest <= 0)
            break;
    }
    return best;
}

/* Wakes the plan when a task that will run reaches the end of its quantum. */
static void wake_at_end(const struct snapshot *s, const struct quanta *q, uint32_t task,
                        struct plan *plan)
{
    const struct task *t = &s->tasks[task];
    units_t n = plan_units(plan, task);
    if (!n)
        return;
    usec_t ahead;
    double service = queue_service(t, s->now, &ahead);
    unsigned b = service_bucket(service) + 1;
    while (b < SERVICE_BUCKETS && !quanta_edge(q, b))
        b++;
    if (b == SERVICE_BUCKETS)
        return;
    double wait = (double)ahead + (service_edge(b) - service) * UNIT / (double)n;
    if (wait >= (double)USEC_LIMIT)
        return;
    usec_t at = s->now + (usec_t)ceil(wait);
    if (task_running(t))
        plan_wake(plan, at);
    else
        plan_wake_started(plan, at);
}

static void allocate_gittins(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct quanta q;
    quanta_init(&q, p->v[QUANTUM].number * (double)USEC_PER_SEC);
    double *known = ARENA_ARRAY(plan->arena, SERVICE_BUCKETS, double);
    struct keyed *k = order_collect(s, plan->arena);
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        usec_t ahead;
        unsigned b = q.first[service_bucket(queue_service(t, s->now, &ahead))];
        if (known[b] == 0) {
            double g = gittins_index(s->finished, &q, b);
            known[b] = g > 0 ? g : -1;
        }
        /* Larger indices first, then the unknown ones by their service. */
        k[i].rank = 2 * k[i].rank + (known[b] < 0);
        k[i].key = known[b] < 0 ? service_edge(b) : -known[b];
        k[i].tie = task_since(t);
        usec_t until = queue_keep_until(t, s->now);
        if (until) {
            k[i].rank -= known[b] < 0;
            k[i].key = -INFINITY;
            plan_wake(plan, until);
        }
    }
    queue_serve(s, k, plan);
    for (uint32_t i = 0; i < s->active; i++)
        wake_at_end(s, &q, k[i].task, plan);
}

static const struct param params[] = {
    [QUANTUM] = {"quantum", PARAM_NUMBER, "3600", 0.001, 1e12, NULL,
                 "least unit-seconds of service that a job gets before its index can fall"},
    {0},
};

const struct policy policy_gittins = {
    .axis = AXIS_ALLOCATE,
    .name = "gittins",
    .summary = "by the Gittins index of finished jobs' service (Tiresias-G), preemptive",
    .rule =
        "Every job gets the index G(a) = max over d of P(S - a <= d | S > a) / E[min(S - a, d) | "
        "S > a], where a is the service that it has attained (units x seconds) and S that of the "
        "jobs that have finished so far. The largest index is served first, all or nothing at "
        "what the job requests; ties by first start, or submission if it has not started.\n\n"
        "Service is counted in quanta, which grow with it: at most eight for every factor of ten, "
        "and none smaller than the parameter. A job keeps its index until its quantum is over, so "
        "that jobs about which little is known do not take turns all the time. The time of a "
        "restart does not count while the job runs. Before any job has finished, and for a job "
        "that has run longer than any before, the index is unknown: these come last, least "
        "service first.",
    .source = "Gu et al., Tiresias (NSDI'19), Tiresias-G",
    .params = params,
    .decide = allocate_gittins,
};
