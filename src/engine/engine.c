/* Owns the step, and when a decision is due. Events only change the state and mark it dirty
 * (event.c). Decisions are made on EVENT_TICK, so one decision sees everything that happens
 * at an instant, and decisions are at least resched_min apart. */
#include "engine/engine.h"

#include "engine/apply.h"
#include "engine/check.h"
#include "engine/event.h"
#include "engine/protect.h"
#include "engine/rates.h"
#include "engine/ride.h"
#include "engine/settle.h"

void engine_init(struct engine *e, const struct engine_config *config,
                 const struct cluster *cluster)
{
    *e = (struct engine){.config = *config, .cluster = *cluster, .wake_at = USEC_NEVER};
    e->decided_at = -USEC_LIMIT;
    e->cluster.nodes = xcalloc(cluster->n, sizeof *e->cluster.nodes);
    for (uint32_t i = 0; i < cluster->n; i++) {
        e->cluster.nodes[i] = cluster->nodes[i];
        memset(&e->cluster.nodes[i].tasks, 0, sizeof e->cluster.nodes[i].tasks);
    }
    e->stale_mark = xcalloc(cluster->n, sizeof *e->stale_mark);
    for (int axis = 0; axis < AXES; axis++)
        e->node_memo[axis] = xcalloc(cluster->n, sizeof **e->node_memo);
    e->snapshot = (struct snapshot){.first = TASK_NONE, .last = TASK_NONE, .by_submit = true};
}

void engine_done(struct engine *e)
{
    for (uint32_t i = 0; i < e->tasks_n; i++) {
        free(e->tasks[i].at.at);
        free(e->tasks[i].history);
    }
    for (uint32_t i = 0; i < e->cluster.n; i++)
        VEC_DONE(&e->cluster.nodes[i].tasks);
    for (int axis = 0; axis < AXES; axis++)
        free(e->node_memo[axis]);
    free(e->cluster.nodes);
    free(e->tasks);
    free(e->links);
    free(e->touched_mark);
    free(e->stale_mark);
    free(e->why);
    VEC_DONE(&e->spare);
    VEC_DONE(&e->running);
    VEC_DONE(&e->effects);
    VEC_DONE(&e->touched);
    VEC_DONE(&e->stale);
    VEC_DONE(&e->measured);
    arena_done(&e->arena);
}

const struct snapshot *engine_snapshot(struct engine *e, usec_t now)
{
    struct snapshot *s = &e->snapshot;
    s->now = now;
    s->seed = e->config.seed;
    s->rules = e->config.rules;
    s->cluster = &e->cluster;
    if (!s->pools) { /* node states have changed, or this is the first time */
        s->pools = cluster_pools(&e->cluster);
        s->shut = false;
        for (unsigned p = 0; p < s->pools; p++)
            s->size[p] = cluster_size(&e->cluster, p, true);
        for (uint32_t i = 0; i < e->cluster.n; i++)
            s->shut |= e->cluster.nodes[i].state == NODE_DRAINING ||
                       e->cluster.nodes[i].state == NODE_CLOSED;
    }
    s->tasks = e->tasks;
    s->tasks_cap = e->tasks_cap;
    s->links = e->links;
    s->running = e->running.at;
    s->nrunning = (uint32_t)e->running.n;
    s->finished = &e->finished;
    s->memo = e->memo;
    for (int axis = 0; axis < AXES; axis++)
        s->node_memo[axis] = e->node_memo[axis];
    return s;
}

usec_t engine_due(const struct engine *e)
{
    usec_t soonest = e->decided_at + e->config.resched_min;
    usec_t wanted = e->dirty ? soonest : e->wake_at;
    return wanted > soonest ? wanted : soonest;
}

void engine_wake(struct engine *e, usec_t at)
{
    if (at < e->wake_at)
        e->wake_at = at;
}

static bool any_started(const struct engine *e, bool whole)
{
    for (size_t i = 0; i < e->effects.n; i++) {
        const struct effect *f = &e->effects.at[i];
        if ((f->kind == EFFECT_START || f->kind == EFFECT_RESUME) &&
            (!whole || e->tasks[f->task].job->whole))
            return true;
    }
    return false;
}

/* An allocator counts a task that must fit on one node on a node of its choice, and the
 * placer may choose another, if there is one: a waiting task could fit after all. A second
 * decision finds out. Only one: otherwise two tasks could evict each other forever. */
static bool look_again(const struct engine *e)
{
    return !e->again && e->cluster.n > 1 && e->snapshot.active > e->running.n &&
           any_started(e, true);
}

static int decide(struct engine *e, usec_t now, struct err *err)
{
    const struct combo *c = &e->config.combo;
    protect_recent(e, now);
    const struct snapshot *s = engine_snapshot(e, now);
    struct plan *plan = &e->plan;
    arena_reset(&e->arena);
    plan_init(plan, s, &e->arena, e->config.explain);
    c->policy[AXIS_ALLOCATE]->decide(s, &c->params[AXIS_ALLOCATE], plan);
    if (e->costly && !c->policy[AXIS_ALLOCATE]->weighs_costs)
        settle_plan(e, plan);
    protect_pinned(e, plan, now);
    c->policy[AXIS_PLACE]->decide(s, &c->params[AXIS_PLACE], plan);
    protect_unused(e, plan);
    c->policy[AXIS_SHARE]->decide(s, &c->params[AXIS_SHARE], plan);
    ride_settle(e, plan);
    if (check_plan(e, plan, err) < 0)
        return -1;
    apply_plan(e, plan, now);
    if (any_started(e, false))
        plan_wake(plan, plan->start_wake_at);
    e->dirty = e->again = look_again(e);
    e->decided_at = now;
    e->wake_at = plan->wake_at > now ? plan->wake_at : now + 1;
    e->decisions++;
    return 0;
}

int engine_step(struct engine *e, const struct event *event, usec_t now, struct err *err)
{
    if (event_check(e, event, err) < 0)
        return -1;
    e->step++;
    e->effects.n = e->touched.n = e->measured.n = e->stale.n = 0;
    int rc = event_take(e, event, now, err);
    if (event->kind == EVENT_TICK && engine_due(e) <= now)
        rc = decide(e, now, err);
    rates_refresh(e, now);
    if (event->kind ==
        EVENT_RESTORE) /* tasks are restored one by one; the caller looks at them at the end */
        e->effects.n = 0;
    return rc;
}
