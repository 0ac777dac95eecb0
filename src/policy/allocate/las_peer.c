/* Owns least attained service as in the simulators of Tiresias and ElasticFlow (their
 * dlas-gpu), to compare with them:
 * - a running job falls by one queue at a decision, after the jobs that wait in the next one;
 *   after the grants running jobs come first in each queue; no job is promoted;
 * - the next check is due after (threshold - run seconds) / units, which is late for jobs of
 *   more than one unit (it subtracts seconds from unit-seconds), rounded down to seconds by
 *   Tiresias and up by ElasticFlow;
 * - there are three queues, and the last threshold is fixed at 7200, so thresholds=3250 (or
 *   none given) means 3250/7200;
 * - of jobs that fall together the larger goes first under ElasticFlow's rules.
 *
 * Under the rules of Pollux' simulator, which has its own Tiresias, thresholds are as given, a
 * job falls when it has held its units for long enough, running or not they keep the order in
 * which they came to their queue, and a round makes further checks unnecessary.
 *
 * Memo (task): i[0] = queue. */
#include "policy/allocate/las_peer.h"

#include <math.h>

#include "policy/queue.h"

static const double own_threshold = 3600e6; /* the default of las */
static const double peer_thresholds[] = {3250e6, 7200e6};

/* For how many whole seconds the task has made progress. */
static int64_t seconds_run(const struct task *t, usec_t now)
{
    double rate = speed_at(job_speed(t->job, t->pool), t->job->req);
    return llround(task_done(t, now) / rate / (double)USEC_PER_SEC);
}

/* Sets keys by queue; jobs that fall now come half a step after the next queue. */
static void rank(const struct las *l, const struct snapshot *s, struct keyed *k, struct plan *plan)
{
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        unsigned q = (unsigned)t->memo[AXIS_ALLOCATE].i[0];
        k[i].key = q;
        k[i].tie = 0; /* equal ones keep their order */
        k[i].id = 0;
        if (q >= l->n || !task_running(t))
            continue;
        double service = s->rules == RULES_POLLUX
                             ? task_attained(t, s->now)
                             : (double)(seconds_run(t, s->now) * t->n) * USEC_PER_SEC / UNIT;
        if (service < l->threshold[q])
            continue;
        k[i].key = q + 1.5;
        k[i].tie = s->rules == RULES_ELASTICFLOW ? -t->n : 0;
        k[i].id = t->job->id;
        struct memo m = {.i = {q + 1}};
        plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, k[i].task, &m);
    }
}

static void wake_for(const struct las *l, const struct snapshot *s, const struct task *t,
                     unsigned q, struct plan *plan)
{
    if (q >= l->n)
        return;
    int64_t units = t->job->req / UNIT;
    int64_t left = (int64_t)(l->threshold[q] / USEC_PER_SEC) - seconds_run(t, s->now);
    if (s->rules == RULES_ELASTICFLOW)
        left += units - 1;
    plan_wake(plan, s->now + left / units * USEC_PER_SEC);
}

/* Publishes the order: in each queue running jobs, then waiting ones. */
static void publish(const struct las *l, const struct snapshot *s, const struct keyed *k,
                    struct plan *plan)
{
    uint32_t *order = arena_raw(plan->arena, ((size_t)s->active + 1) * sizeof *order), n = 0;
    uint32_t *waiting = arena_raw(plan->arena, ((size_t)s->active + 1) * sizeof *waiting), waits;
    for (uint32_t i = 0; i < s->active;) {
        unsigned q = (unsigned)k[i].key;
        for (waits = 0; i < s->active && (unsigned)k[i].key == q; i++) {
            if (!plan_units(plan, k[i].task)) {
                waiting[waits++] = k[i].task;
                continue;
            }
            order[n++] = k[i].task;
            wake_for(l, s, &s->tasks[k[i].task], q, plan);
        }
        memcpy(&order[n], waiting, waits * sizeof *order);
        n += waits;
    }
    plan->order = order;
}

void las_peer_allocate(const struct las *own, const struct snapshot *s, struct keyed *k,
                       struct plan *plan)
{
    struct las l = *own;
    if (s->rules == RULES_POLLUX) {
        rank(&l, s, k, plan);
        queue_serve(s, k, plan);
        return;
    }
    if (l.n == 1 && (l.threshold[0] == own_threshold || l.threshold[0] == peer_thresholds[0])) {
        memcpy(l.threshold, peer_thresholds, sizeof peer_thresholds);
        l.n = COUNT_OF(peer_thresholds);
    }
    rank(&l, s, k, plan);
    order_sort(k, s->active, plan->arena);
    queue_grant(s, k, plan);
    publish(&l, s, k, plan);
}
