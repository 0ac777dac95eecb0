/* Owns the quirks of other simulators that change their figures. Gavel's:
 * - arrivals and ends are seen at the end of a round (resched_min), or before if all jobs that
 *   run are done by then; a job that ends keeps its units until then.
 *
 * Muri's:
 * - at every decision each job that runs loses what restarts of its model take, and of those that
 *   share its units; but no more than the time since the last decision. Predicted ends do not
 *   include it.
 *
 * ElasticFlow's:
 * - arrivals, ends and timers are seen at decisions only, which are a slot
 *   (resched_min) or more apart; an ended job keeps its units until then, but
 *   its end counts as predicted, in whole seconds rounded up;
 * - its dlas-gpu charges a start B + 2 (log2(units) + 1) seconds (B = 2, or 7
 *   from 256 GPUs on), not in the predicted end but in arrears: at the next
 *   decision, and only as far as the time since then reaches;
 * - at decisions 60, 120, ... every running job pays 27 s more (47 s from 256
 *   GPUs on), and there the predicted end includes it;
 * - what a start has not yet paid at the next decision is forgotten. */
#include "sim/peer.h"

#include <math.h>
#include <string.h>

enum { RESTART_EVERY = 60, LARGE = 256 };

void peer_init(struct peer *p, enum rules rules, const struct combo *combo)
{
    bool elasticflow = rules == RULES_ELASTICFLOW;
    *p = (struct peer){.active = elasticflow || rules == RULES_GAVEL || rules == RULES_MURI,
                       .decided_at = -1};
    p->rounds = rules == RULES_GAVEL;
    p->every = rules == RULES_MURI;
    p->charges = elasticflow && !strcmp(combo->policy[AXIS_ALLOCATE]->name, "las");
}

void peer_done(struct peer *p)
{
    free(p->pause);
}

/* When the task has done as many whole steps as there is time for until then, or all of them. */
static usec_t steps_done(const struct task *t, usec_t from, usec_t until)
{
    usec_t end = task_end(t, from);
    double step = t->rate > 0 ? t->job->step / t->rate : 0;
    if (end <= until || !(step > 0))
        return end < until ? end : until;
    return from + (usec_t)(floor((double)(until - from) / step + 1e-9) * step);
}

/* When the last of the tasks that run has done its steps of the round. */
static usec_t round_end(const struct peer *p, const struct engine *e)
{
    usec_t last = 0;
    for (uint32_t i = e->snapshot.first; i != TASK_NONE; i = e->links[i].next) {
        if (!task_trains(&e->tasks[i]))
            continue;
        usec_t end = steps_done(&e->tasks[i], p->decided_at, p->decided_at + e->config.resched_min);
        last = end > last ? end : last;
    }
    return last;
}

/* Takes back what is not a whole step of those that ran in the round. */
static int round_steps(const struct peer *p, struct engine *e, usec_t now, struct err *err)
{
    for (uint32_t i = p->rounds ? e->snapshot.first : TASK_NONE; i != TASK_NONE;
         i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        double done = task_done(t, now), whole = floor(done / t->job->step + 1e-6) * t->job->step;
        if (!task_trains(t) || !(t->job->step > 0) || !(whole < done))
            continue;
        struct event event = {.kind = EVENT_PROGRESS, .task = i, .work = t->work, .done = whole};
        if (engine_step(e, &event, now, err) < 0)
            return -1;
    }
    return 0;
}

usec_t peer_hold(const struct peer *p, const struct engine *e, usec_t next)
{
    usec_t soonest = p->decided_at + e->config.resched_min;
    if (p->rounds && e->running.n)
        soonest = round_end(p, e);
    return p->active && p->decided_at >= 0 && next < soonest ? soonest : next;
}

/* What a decision costs the task and those that share its units. */
static usec_t decision_cost(const struct engine *e, uint32_t task)
{
    usec_t sum = 0;
    uint32_t i = task;
    do {
        sum += e->tasks[i].job->cost.decision;
        i = e->tasks[i].mate;
    } while (i != task);
    return sum;
}

/* Takes that cost off the progress of all that run. */
static int charge_all(const struct peer *p, struct engine *e, usec_t now, struct err *err)
{
    for (uint32_t i = p->every ? e->snapshot.first : TASK_NONE; i != TASK_NONE;
         i = e->links[i].next) {
        const struct task *t = &e->tasks[i];
        usec_t elapsed = now - p->decided_at, cost = decision_cost(e, i);
        if (!task_trains(t))
            continue;
        double lost = (double)(cost < elapsed ? cost : elapsed) * t->rate;
        struct event event = {.kind = EVENT_PROGRESS,
                              .task = i,
                              .work = t->work,
                              .done = fmax(task_done(t, now) - lost, 0)};
        if (engine_step(e, &event, now, err) < 0)
            return -1;
    }
    return 0;
}

int peer_before(struct peer *p, struct engine *e, usec_t now, struct err *err)
{
    if (round_steps(p, e, now, err) < 0 || charge_all(p, e, now, err) < 0)
        return -1;
    for (size_t i = 0; p->active && p->charges && i < e->running.n; i++) {
        uint32_t task = e->running.at[i];
        const struct task *t = &e->tasks[task];
        struct event ready = {.kind = EVENT_READY, .task = task, .at = now};
        if (t->ready_at > now && engine_step(e, &ready, now, err) < 0)
            return -1;
        if (!p->pause[task])
            continue;
        usec_t elapsed = now - p->decided_at;
        usec_t owed = p->pause[task] < elapsed ? p->pause[task] : elapsed;
        double done = task_done(t, now) - (double)owed * t->rate;
        p->pause[task] = 0;
        struct event event = {.kind = EVENT_PROGRESS, .task = task, .work = t->work, .done = done};
        if (engine_step(e, &event, now, err) < 0)
            return -1;
    }
    return 0;
}

static usec_t start_cost(units_t n, bool large)
{
    usec_t seconds = large ? 7 : 2;
    for (units_t whole = n / UNIT; whole; whole /= 2)
        seconds += 2;
    return seconds * USEC_PER_SEC;
}

static void reserve(struct peer *p, uint32_t cap)
{
    if (p->cap >= cap)
        return;
    p->pause = xgrowarray(p->pause, p->cap, cap, sizeof *p->pause);
    p->cap = cap;
}

int peer_after(struct peer *p, struct engine *e, usec_t now, struct err *err)
{
    if (!p->active)
        return 0;
    reserve(p, e->tasks_cap);
    bool restart = p->decisions > 0 && p->decisions % RESTART_EVERY == 0;
    bool large = cluster_size(&e->cluster, POOL_GPU, false) >= LARGE * UNIT;
    p->decisions++;
    p->decided_at = now;
    for (size_t i = 0; p->charges && i < e->running.n; i++) {
        uint32_t task = e->running.at[i];
        const struct task *t = &e->tasks[task];
        usec_t cost = start_cost(t->n, large);
        p->pause[task] = !restart && t->resumed_at == now ? cost : 0;
        if (!restart)
            continue;
        struct event event = {
            .kind = EVENT_READY, .task = task, .at = now + cost + (large ? 47 : 27) * USEC_PER_SEC};
        if (engine_step(e, &event, now, err) < 0)
            return -1;
    }
    return 0;
}
