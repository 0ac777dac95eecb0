/* las: least attained service in two dimensions (units x seconds), in discrete queues. A job
 * starts in queue 0 and falls to queue q when its service reaches the q-th threshold. Queues
 * are served in order; within a queue, jobs by first start, or by submission if they have not
 * started. A job that has waited `knob` times as long as it has run is promoted to queue 0,
 * and its counters start again. A job that was restarted at a cost is not preempted before it
 * has run ten times as long.
 *
 * Source: Gu et al., "Tiresias: A GPU cluster manager for distributed deep
 * learning" (NSDI'19), 2D-LAS with discretised queues.
 *
 * Under --rules tiresias and --rules elasticflow it follows the event rules of
 * these simulators: las_peer.c.
 *
 * Memo (task): d[0] = service at the last promotion, d[1] = run time at it,
 * i[0] = queue (las_peer.c). */
#include <math.h>
#include <stdio.h>

#include "policy/allocate/las.h"
#include "policy/allocate/las_peer.h"
#include "policy/policies.h"
#include "policy/queue.h"

/* The key of a task that must not be preempted yet: before all queues. */
enum { KEPT = -1 };

/* The queue of a job with this service. */
static unsigned las_queue(const struct las *l, double service)
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

static double run_time(const struct task *t, usec_t now)
{
    return (double)task_run_time(t, now);
}

/* Service since the last promotion. */
static double served(const struct task *t, usec_t now, usec_t *ahead)
{
    return queue_service(t, now, ahead) - t->memo[AXIS_ALLOCATE].d[0];
}

/* Promotes a task that has waited long enough; otherwise wakes the plan when it has. */
static bool promote(const struct las *l, const struct snapshot *s, uint32_t task, struct plan *plan)
{
    const struct task *t = &s->tasks[task];
    double run = run_time(t, s->now) - t->memo[AXIS_ALLOCATE].d[1];
    if (task_running(t) || t->starts == 0 || l->knob <= 0)
        return false;
    double wait = l->knob * run - (double)(s->now - t->queued_at);
    if (wait > 0) {
        if (wait < (double)USEC_LIMIT)
            plan_wake(plan, s->now + (usec_t)ceil(wait));
        return false;
    }
    struct memo m = {.d = {task_attained(t, s->now), run_time(t, s->now)}};
    plan_remember(plan, AXIS_ALLOCATE, MEMO_TASK, task, &m);
    return true;
}

unsigned las_rank(const struct las *l, const struct snapshot *s, uint32_t task, struct plan *plan)
{
    usec_t ahead;
    unsigned q = las_queue(l, served(&s->tasks[task], s->now, &ahead));
    return q > 0 && promote(l, s, task, plan) ? 0 : q;
}

void las_wake(const struct las *l, const struct snapshot *s, const struct keyed *k,
              struct plan *plan)
{
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        units_t n = plan_units(plan, k[i].task);
        if (k[i].key == KEPT || (!n && !task_running(t))) /* it waits, and will */
            continue;
        unsigned q = (unsigned)k[i].key;
        usec_t ahead;
        double service = served(t, s->now, &ahead), wait = INFINITY;
        if (q < las_queue(l, service)) /* promoted just now */
            service = 0;
        if (n && q < l->n)
            wait = (double)ahead + (l->threshold[q] - service) * UNIT / (double)n;
        else if (!n && q > 0 && task_running(t) && l->knob > 0) /* stopped just now */
            wait = l->knob * (run_time(t, s->now) - t->memo[AXIS_ALLOCATE].d[1]);
        if (!(wait < (double)USEC_LIMIT))
            continue;
        usec_t at = s->now + (usec_t)ceil(wait);
        if (task_running(t))
            plan_wake(plan, at);
        else
            plan_wake_started(plan, at);
    }
}

/* The number of the task's list: its queue, counted from 1. */
static uint8_t list_of(const struct las *l, const struct snapshot *s, const struct keyed *k)
{
    usec_t ahead;
    if (k->key != KEPT)
        return (uint8_t)(1 + k->key);
    return (uint8_t)(1 + las_queue(l, served(&s->tasks[k->task], s->now, &ahead)));
}

static void allocate_las(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    struct las l;
    las_init(&l, p);
    struct keyed *k = order_collect(s, plan->arena);
    if (s->rules != RULES_OWN) {
        las_peer_allocate(&l, s, k, plan);
        return;
    }
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[k[i].task];
        usec_t until = queue_keep_until(t, s->now);
        k[i].key = until ? KEPT : (double)las_rank(&l, s, k[i].task, plan);
        k[i].tie = task_since(t);
        plan_wake(plan, until ? until : USEC_NEVER);
    }
    queue_serve(s, k, plan);
    las_wake(&l, s, k, plan);
    for (uint32_t i = 0; i < s->active; i++)
        if (plan_units(plan, k[i].task))
            plan_enlist(plan, s, AXIS_ALLOCATE, k[i].task, list_of(&l, s, &k[i]));
}

static bool describe_las(const struct snapshot *s, const struct params *p, uint32_t task,
                         struct remark *out)
{
    struct las l;
    usec_t ahead;
    double service = served(&s->tasks[task], s->now, &ahead);
    las_init(&l, p);
    unsigned q = las_queue(&l, service);
    const char *kind = s->tasks[task].pool == POOL_CPU ? "CPU" : "GPU";
    int n = snprintf(out->text, sizeof out->text,
                     "Under las it is in queue %u, with %.3g %s-seconds of service", q,
                     service / (double)USEC_PER_SEC, kind);
    snprintf(out->list, sizeof out->list, "queue %u", q);
    if (q < l.n)
        snprintf(out->text + n, sizeof out->text - (size_t)n, "; at %g it falls to queue %u.",
                 l.threshold[q] / (double)USEC_PER_SEC, q + 1);
    else
        snprintf(out->text + n, sizeof out->text - (size_t)n, ", the last one.");
    return true;
}

static const struct param params[] = {LAS_PARAM_ROWS, {0}};

const struct policy policy_las = {
    .axis = AXIS_ALLOCATE,
    .name = "las",
    .summary = "least attained service in queues (Tiresias 2D-LAS), preemptive",
    .rule =
        "Attained service is units x seconds. A job is in queue q when its service has passed q "
        "of the thresholds. Queues are served in order; within a queue, jobs by first start, or "
        "by submission if they have not started. All or nothing at what the job requests.\n\n"
        "A job that has waited knob times as long as it had run is promoted to queue 0, and its "
        "counters start again, so no job starves. The policy does not need to know how long jobs "
        "take.\n\n"
        "A job that was restarted at a cost is not stopped again before it has run ten times as "
        "long as the restart took.",
    .source = "Gu et al., Tiresias (NSDI'19)",
    .params = params,
    .decide = allocate_las,
    .describe = describe_las,
};
