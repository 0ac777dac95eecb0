/* las: least attained service in two dimensions (units x seconds), in discrete
 * queues. A job starts in queue 0 and falls to queue q when its service has
 * reached the q-th threshold. Queues are served in order, inside a queue by
 * first start, else by submission. A job that has waited `knob` times as long
 * as it has run is promoted to queue 0 and its counters start anew.
 *
 * Source: Gu et al., "Tiresias: A GPU cluster manager for distributed deep
 * learning" (NSDI'19), 2D-LAS with discretised queues.
 *
 * Under --rules tiresias and --rules elasticflow the event rules are those of
 * these simulators' dlas-gpu: a job falls by one queue at a decision, behind
 * those that wait there; running jobs then come first in each queue; nobody is
 * promoted; and the next check is due after (threshold - run seconds) / units,
 * which is late for jobs of more than one unit (it takes seconds from
 * unit-seconds), rounded down to seconds by Tiresias and up by ElasticFlow.
 * Both have three queues, the last threshold fixed at 7200, so thresholds=3250
 * (or none given) means 3250/7200 there. Of jobs that fall at one decision the
 * larger goes first under ElasticFlow's rules.
 *
 * Memo (task): d[0] = service at the last promotion, d[1] = run time at it,
 * i[0] = queue (only under those rules). */
#include <math.h>

#include "policy/las.h"
#include "policy/policies.h"
#include "policy/queue.h"

static const double own_threshold = 3600e6; /* the default below */
static const double peer_thresholds[] = {3250e6, 7200e6};

unsigned las_queue(const struct las *l, double service)
{
    unsigned q = 0;
    while (q < l->n && service >= l->threshold[q])
        q++;
    return q;
}

void las_init(struct las *l, const struct params *p)
{
    l->n = p->v[LAS_THRESHOLDS].n;
    for (unsigned i = 0; i < l->n; i++)
        l->threshold[i] = p->v[LAS_THRESHOLDS].list[i] * (double)USEC_PER_SEC;
    l->knob = p->v[LAS_KNOB].number;
}

static double ran(const struct task *t, usec_t now)
{
    return (double)(t->run_time + (task_running(t) ? now - t->resumed_at : 0));
}

/* How long the start of this spell stops the task, and how much of it is over. */
static usec_t restart_stop(const struct task *t, usec_t now, usec_t *over)
{
    const struct job_cost *cost = &t->job->cost;
    usec_t stop = cost->restart > cost->resize ? cost->restart : cost->resize;
    if (!task_running(t) || t->starts < 2)
        stop = 0;
    *over = now - t->resumed_at < stop ? now - t->resumed_at : stop;
    return stop;
}

/* Service since the last promotion. What a restart takes does not count while the
 * task runs: else one whose restart takes longer than a queue's quantum would be
 * preempted for ever without any progress. */
static double served(const struct task *t, usec_t now)
{
    usec_t over;
    restart_stop(t, now, &over);
    return task_attained(t, now) - t->memo[AXIS_ALLOCATE].d[0] -
           (double)over * (double)t->n / UNIT;
}

/* Promotes a task that has waited long enough, or asks to be woken when. */
static bool promote(const struct las *l, const struct snapshot *s, uint32_t task,
                    struct plan *plan)
{
    const struct task *t = &s->tasks[task];
    double run = ran(t, s->now) - t->memo[AXIS_ALLOCATE].d[1];
    if (task_running(t) || t->starts == 0 || l->knob <= 0)
        return false;
    double wait = l->knob * run - (double)(s->now - t->queued_at);
    if (wait > 0) {
        if (wait < (double)USEC_LIMIT)
            plan_wake(plan, s->now + (usec_t)ceil(wait));
        return false;
    }
    struct memo m = {.d = {task_attained(t, s->now), ran(t, s->now)}};
    plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, task, &m);
    return true;
}

unsigned las_rank(const struct las *l, const struct snapshot *s, uint32_t task, struct plan *plan)
{
    const struct task *t = &s->tasks[task];
    double service = served(t, s->now);
    unsigned q = las_queue(l, service);
    if (q > 0 && promote(l, s, task, plan))
        return 0;
    if (q < l->n && task_running(t)) {
        usec_t over, stop = restart_stop(t, s->now, &over);
        double left = (l->threshold[q] - service) * UNIT / (double)t->n;
        plan_wake(plan, s->now + (stop - over) + (usec_t)ceil(left));
    }
    return q;
}

usec_t las_since(const struct task *t)
{
    return t->started_at != USEC_NEVER ? t->started_at : t->job->submit;
}

static void order_own(const struct las *l, const struct snapshot *s, struct keyed *k,
                      struct plan *plan)
{
    for (uint32_t i = 0; i < s->active; i++) {
        k[i].key = las_rank(l, s, k[i].task, plan);
        k[i].tie = las_since(&s->tasks[k[i].task]);
    }
}

/* Whole seconds that the task has made progress for. */
static int64_t peer_seconds(const struct task *t, usec_t now)
{
    double rate = speed_at(job_speed(t->job, t->pool), t->job->req);
    return llround(task_done(t, now) / rate / (double)USEC_PER_SEC);
}

static void order_as_peer(const struct las *l, const struct snapshot *s, struct keyed *k,
                          struct plan *plan)
{
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        unsigned q = (unsigned)t->memo[AXIS_ALLOCATE].i[0];
        k[i].key = q;
        k[i].tie = 0; /* equal ones keep their order */
        k[i].id = 0;
        if (q >= l->n || !task_running(t))
            continue;
        double service = (double)(peer_seconds(t, s->now) * t->n) * USEC_PER_SEC / UNIT;
        if (service >= l->threshold[q]) {
            k[i].key = q + 1.5; /* behind those that are in the next queue */
            k[i].id = t->job->id;
            if (s->rules == RULES_ELASTICFLOW)
                k[i].tie = -t->n;
            struct memo m = {.i = {q + 1}};
            plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, k[i].task, &m);
        }
    }
}

/* After the grants: in each queue those that run first; and the next check. */
static void finish_as_peer(const struct las *l, const struct snapshot *s, struct keyed *k,
                            struct plan *plan)
{
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        unsigned q = (unsigned)k[i].key;
        bool runs = plan_units(plan, k[i].task) > 0;
        k[i].key = q + (runs ? 0 : 0.5);
        k[i].tie = k[i].id = 0;
        if (!runs || q >= l->n)
            continue;
        int64_t units = t->job->req / UNIT;
        int64_t left = (int64_t)(l->threshold[q] / USEC_PER_SEC) - peer_seconds(t, s->now);
        if (s->rules == RULES_ELASTICFLOW)
            left += units - 1;
        plan_wake(plan, s->now + left / units * USEC_PER_SEC);
    }
}

static void allocate_las(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct las l;
    las_init(&l, p);
    struct keyed *k = order_collect(s, plan->arena);
    if (s->rules == RULES_OWN) {
        order_own(&l, s, k, plan);
        queue_serve(s, k, plan);
        return;
    }
    if (l.n == 1 && (l.threshold[0] == own_threshold || l.threshold[0] == peer_thresholds[0])) {
        memcpy(l.threshold, peer_thresholds, sizeof peer_thresholds);
        l.n = COUNT_OF(peer_thresholds);
    }
    order_as_peer(&l, s, k, plan);
    bool changed = order_sort(k, s->active, plan->arena);
    queue_grant(s, k, plan);
    finish_as_peer(&l, s, k, plan);
    changed |= order_sort(k, s->active, plan->arena);
    if (changed)
        order_publish(k, s->active, plan);
}

const struct param las_params[] = {
    [LAS_THRESHOLDS] = {"thresholds", PARAM_LIST, "3600", 1, 1e12, NULL,
                        "unit-seconds of service at which a job falls into the next queue"},
    [LAS_KNOB] = {"knob", PARAM_NUMBER, "8", 0, 1e6, NULL,
                  "promotion when it has waited this many times its run time; 0 = never"},
    {0},
};

const struct policy policy_las = {
    .axis = AXIS_ALLOCATE,
    .name = "las",
    .summary = "least attained service in queues (Tiresias 2D-LAS), preemptive",
    .rule = "Attained service is units x seconds. A job is in queue q when its service has passed q "
            "of the thresholds. Queues are served in order; inside a queue by first start, else by "
            "submission; all or nothing at what the job asks for.\n\n"
            "A job that has waited knob times as long as it had run is promoted to queue 0 and its "
            "counters start anew, so that none starves. The policy needs no estimate of a job's "
            "length.",
    .source = "Gu et al., Tiresias (NSDI'19)",
    .params = las_params,
    .decide = allocate_las,
};
