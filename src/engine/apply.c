/* Owns carrying out a plan that has been checked: first everything that frees units, then
 * everything that takes them. If stops take time (not `instant`), a grant that needs units
 * which are still being freed waits for the next decision (yield.c). */
#include "engine/apply.h"

#include "engine/ride.h"
#include "engine/state.h"
#include "engine/yield.h"
#include "model/growth.h"

/* The task leaves its nodes, at once or when EVENT_STOPPED arrives. */
static void leave_nodes(struct engine *e, uint32_t task)
{
    struct task *t = &e->tasks[task];
    t->preemptions++;
    if (e->config.instant) {
        t->saved = t->done;
        state_vacate(e, task, true);
        state_set_phase(e, task, TASK_QUEUED);
        return;
    }
    state_set_phase(e, task, TASK_STOPPING);
    state_unlink(e, task);
    state_touch(e, task);
}

void apply_evict(struct engine *e, uint32_t task)
{
    state_effect(e, EFFECT_PREEMPT, task, 0, 0, 0);
    leave_nodes(e, task);
}

/* Whether the grant takes units of the pool on a node of the task. */
static bool takes_from(const struct engine *e, const struct grant *g, const struct task *t)
{
    const struct task *other = &e->tasks[g->task];
    bool had = task_running(other) && other->pool == g->pool;
    for (uint32_t i = 0; g->n && g->moved && i < t->at.n; i++) {
        uint32_t node = t->at.at[i].node;
        units_t held = had ? placement_on(&other->at, node) : 0;
        if (g->pool == t->pool && placement_on(&g->place, node) > held)
            return true;
    }
    return false;
}

/* The task for which another one has to stop: of those that take its units, the one of the
 * highest class, the first of equals. */
static uint32_t find_taker(const struct engine *e, const struct plan *plan, const struct task *t)
{
    const struct task *best = NULL;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct task *other = &e->tasks[plan->grants[i].task];
        bool better = !best || task_class(other) > task_class(best) ||
                      (task_class(other) == task_class(best) &&
                       (other->submit < best->submit ||
                        (other->submit == best->submit && other->id < best->id)));
        if (better && takes_from(e, &plan->grants[i], t))
            best = other;
    }
    return best ? (uint32_t)(best - e->tasks) : TASK_NONE;
}

/* Takes all units from a running task. */
static void stop_task(struct engine *e, const struct plan *plan, uint32_t task, usec_t now,
                      bool pause)
{
    struct task *t = &e->tasks[task];
    task_advance(t, now);
    t->run_time += now - t->resumed_at;
    t->queued_at = now;
    state_rest(e, task);
    state_effect(e, pause ? EFFECT_PAUSE : EFFECT_PREEMPT, task, t->n, 0, 0);
    e->effects.at[e->effects.n - 1].by = find_taker(e, plan, t);
    if (!pause) {
        leave_nodes(e, task);
        return;
    }
    t->preemptions++;
    state_vacate(e, task, false);
    state_set_phase(e, task, TASK_PAUSED);
}

static bool waits_for(const bool *waits, uint32_t grant)
{
    return waits && waits[grant];
}

static void free_units(struct engine *e, const struct plan *plan, const bool *yields,
                       const bool *waits, usec_t now)
{
    for (size_t i = 0; i < e->running.n;) {
        uint32_t task = e->running.at[i];
        const struct grant *g = plan_grant(plan, task);
        if (!g || !g->n) {
            stop_task(e, plan, task, now,
                      e->tasks[task].job->can_pause && !(yields && yields[task]));
            continue;
        }
        i++;
        if (!g->moved || waits_for(waits, plan->grant_of[task]))
            continue;
        /* It leaves its place here and takes the new one in take_units(). */
        task_advance(&e->tasks[task], now);
        state_vacate(e, task, true);
    }
    for (uint32_t i = yields ? e->snapshot.first : TASK_NONE, next; i != TASK_NONE; i = next) {
        next = e->links[i].next;
        if (yields[i] && e->tasks[i].phase == TASK_PAUSED)
            apply_evict(e, i);
    }
}

/* For how long a starting task makes no progress: no time at its first start, nor when it
 * is resumed with the size that it had. */
static usec_t start_cost(const struct task *t, units_t n)
{
    units_t had = t->phase == TASK_PAUSED ? placement_units(&t->at) : 0;
    if (t->starts == 0 || had == n)
        return 0;
    return had ? t->job->cost.resize : job_resume_cost(t->job);
}

static void start_task(struct engine *e, const struct grant *g, usec_t now)
{
    struct task *t = &e->tasks[g->task];
    bool paused = t->phase == TASK_PAUSED;
    usec_t pay = start_cost(t, g->n);
    task_advance(t, now);
    t->wait_time += now - t->queued_at;
    state_occupy(e, g->task, g->pool, &g->place, g->n);
    state_run(e, g->task);
    t->changes++;
    if (t->starts++ == 0)
        t->started_at = now;
    t->cpu_limit = t->pool == POOL_CPU ? g->n : t->job->max;
    t->told = (struct cpu_told){t->cpu_limit, t->cpu_weight, g->n};
    t->resumed_at = t->changed_at = now;
    t->ready_at = now + pay;
    state_effect(e, paused ? EFFECT_RESUME : EFFECT_START, g->task, 0, g->n, pay);
}

/* A change of a running task, computed while it is still in its old place. */
struct change {
    units_t from;
    bool moves;
    usec_t cost;
};

/* Puts a running task that free_units() has taken out of its place into the new one. */
static void make_change(struct engine *e, const struct grant *g, const struct change *c, usec_t now)
{
    struct task *t = &e->tasks[g->task];
    bool resizes = c->from != g->n;
    state_occupy(e, g->task, g->pool, &g->place, g->n);
    t->changes++;
    t->moves += c->moves;
    t->resizes += resizes;
    if (resizes)
        t->changed_at = now;
    if (now + c->cost > t->ready_at)
        t->ready_at = now + c->cost;
    ride_follow(e, g->task);
    state_effect(e, resizes ? EFFECT_RESIZE : EFFECT_MOVE, g->task, c->from, g->n, c->cost);
    if (c->moves && resizes)
        state_effect(e, EFFECT_MOVE, g->task, g->n, g->n, 0);
}

void apply_move(struct engine *e, uint32_t task, uint32_t node, units_t n, usec_t now)
{
    struct task *t = &e->tasks[task];
    struct slot slot = {node, n};
    struct grant g = {.task = task, .pool = t->pool, .n = n, .place = {&slot, 1}, .moved = true};
    struct change c = {t->n, task_moves(t, n, &g.place), task_change_cost(t, n, &g.place)};
    task_advance(t, now);
    state_vacate(e, task, true);
    make_change(e, &g, &c, now);
}

static void take_units(struct engine *e, const struct plan *plan, const struct change *changes,
                       const bool *waits, usec_t now)
{
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        if (!g->n || !g->moved)
            continue;
        if (waits_for(waits, i)) {
            if (e->why)
                e->why[g->task] = (struct verdict){WHY_RELEASING, TASK_NONE};
        } else if (task_running(&e->tasks[g->task])) {
            make_change(e, g, &changes[i], now);
        } else {
            start_task(e, g, now);
        }
    }
}

static void apply_shares(struct engine *e, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->nshares; i++) {
        const struct cpu_share *s = &plan->shares[i];
        struct task *t = &e->tasks[s->task];
        if (!task_running(t) || (t->cpu_limit == s->limit && t->cpu_weight == s->weight))
            continue;
        t->cpu_limit = s->limit;
        t->cpu_weight = s->weight;
        for (uint32_t k = 0; k < t->at.n; k++)
            state_stale(e, t->at.at[k].node);
        state_touch(e, s->task);
    }
}

static void apply_lists(struct engine *e, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->nlists; i++) {
        const struct list_write *w = &plan->lists[i];
        struct task *t = &e->tasks[w->task];
        if (!task_running(t)) /* its units are not free yet */
            continue;
        VEC_PUSH(&e->effects, (struct effect){EFFECT_LIST, w->task, t->list[w->axis], w->list, 0,
                                              w->axis, TASK_NONE});
        t->list[w->axis] = w->list;
    }
}

/* A policy may measure a task that this plan stops or moves: its node was the one before. */
static void apply_measurements(struct engine *e, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->nmeasured; i++) {
        const struct measurement *m = &plan->measured[i];
        const struct task *t = &e->tasks[m->task];
        if (t->history && t->at.n == 1 &&
            growth_take(t->history, &e->cluster.nodes[t->at.at[0].node], m->bandwidth))
            VEC_PUSH(&e->measured, m->task);
    }
}

static void apply_memos(struct engine *e, const struct plan *plan)
{
    for (uint32_t i = 0; i < plan->nmemos; i++) {
        const struct memo_write *w = &plan->memos[i];
        struct memo *to = w->scope == MEMO_TASK   ? &e->tasks[w->index].memo[w->axis]
                          : w->scope == MEMO_NODE ? &e->node_memo[w->axis][w->index]
                                                  : &e->memo[w->axis];
        *to = w->memo;
    }
}

void apply_plan(struct engine *e, const struct plan *plan, usec_t now)
{
    struct change *changes = ARENA_ARRAY(&e->arena, plan->n, struct change);
    const bool *yields = yield_memory(e, plan);
    const bool *waits = e->config.instant ? NULL : yield_wait(e, plan, yields);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (g->n && g->moved && task_running(t))
            changes[i] = (struct change){t->n, task_moves(t, g->n, &g->place),
                                         task_change_cost(t, g->n, &g->place)};
    }
    apply_measurements(e, plan);
    if (e->why && plan->why)
        memcpy(e->why, plan->why, e->tasks_cap * sizeof *e->why);
    if (plan->order)
        state_reorder(e, plan->order, plan->by_submit);
    ride_leave(e, plan, now);
    free_units(e, plan, yields, waits, now);
    take_units(e, plan, changes, waits, now);
    ride_join(e, plan, now);
    apply_shares(e, plan);
    apply_memos(e, plan);
    apply_lists(e, plan);
}
