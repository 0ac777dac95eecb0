/* Owns carrying a checked plan out: first all that frees units, then all that
 * takes them. When stops take time (not `instant`), a start that needs units
 * still being freed waits for the next decision, which EVENT_STOPPED causes. */
#include "engine/internal.h"

void apply_stop(struct engine *e, uint32_t task, usec_t now, bool pause)
{
    struct task *t = &e->tasks[task];
    units_t had = t->n;
    task_advance(t, now);
    t->saved = t->done;
    t->run_time += now - t->resumed_at;
    t->queued_at = now;
    t->preemptions++;
    state_rest(e, task);
    if (pause) {
        state_vacate(e, task, false);
        t->phase = TASK_PAUSED;
        state_effect(e, EFFECT_PAUSE, task, had, 0, 0);
        return;
    }
    state_effect(e, EFFECT_PREEMPT, task, had, 0, 0);
    if (e->config.instant) {
        state_vacate(e, task, true);
        t->phase = TASK_QUEUED;
        return;
    }
    t->phase = TASK_STOPPING;
    state_unlink(e, task);
    state_touch(e, task);
}

static void free_units(struct engine *e, const struct plan *plan, usec_t now)
{
    for (size_t i = 0; i < e->running.n;) {
        uint32_t task = e->running.at[i];
        const struct grant *g = plan_grant(plan, task);
        if (g && g->n && !g->moved) {
            i++;
        } else if (g && g->n) {
            /* It changes: out of its place, in again below. */
            task_advance(&e->tasks[task], now);
            state_vacate(e, task, true);
            i++;
        } else {
            apply_stop(e, task, now, e->tasks[task].job->can_pause);
        }
    }
}

/* Whether the units are free now and not only once others have stopped. */
static bool fits_now(const struct engine *e, const struct grant *g, const struct job *j)
{
    for (uint32_t i = 0; i < g->place.n; i++) {
        const struct node *n = &e->cluster.nodes[g->place.at[i].node];
        units_t units = g->place.at[i].units;
        units_t cpus = g->pool == POOL_CPU ? units : units / UNIT * j->cpus;
        if ((g->pool != POOL_CPU && n->gpu_held + units > n->gpus) || n->cpu_held + cpus > n->cpus)
            return false;
        if (n->memory_mb && n->memory_held + j->memory_mb > n->memory_mb)
            return false;
    }
    return true;
}

static void start(struct engine *e, const struct grant *g, usec_t now)
{
    struct task *t = &e->tasks[g->task];
    const struct job_cost *cost = &t->job->cost;
    bool paused = t->phase == TASK_PAUSED;
    usec_t pay = cost->restart > cost->resize ? cost->restart : cost->resize;
    if (t->starts == 0 || paused)
        pay = 0;
    task_advance(t, now);
    t->wait_time += now - t->queued_at;
    state_occupy(e, g->task, g->pool, &g->place, g->n);
    state_run(e, g->task);
    if (t->starts++ == 0)
        t->started_at = now;
    t->cpu_limit = t->pool == POOL_CPU ? g->n : t->job->max;
    t->resumed_at = t->changed_at = now;
    t->ready_at = now + pay;
    state_effect(e, paused ? EFFECT_RESUME : EFFECT_START, g->task, 0, g->n, pay);
}

/* Units of the old places that are not in the new ones. */
static units_t units_moved(const struct slot *old, uint32_t n, const struct placement *new)
{
    units_t gone = 0;
    for (uint32_t i = 0; i < n; i++) {
        units_t stays = 0;
        for (uint32_t k = 0; k < new->n; k++)
            if (new->at[k].node == old[i].node)
                stays = new->at[k].units;
        gone += old[i].units > stays ? old[i].units - stays : 0;
    }
    return gone;
}

/* A running task that was taken out of its place by free_units. */
static void change(struct engine *e, const struct grant *g, units_t from, units_t gone, usec_t now)
{
    struct task *t = &e->tasks[g->task];
    bool moves = gone > (from > g->n ? from - g->n : 0), resizes = from != g->n;
    usec_t pay = resizes ? t->job->cost.resize : 0;
    if (moves && t->job->cost.move > pay)
        pay = t->job->cost.move;
    state_occupy(e, g->task, g->pool, &g->place, g->n);
    t->moves += moves;
    t->resizes += resizes;
    if (resizes)
        t->changed_at = now;
    if (now + pay > t->ready_at)
        t->ready_at = now + pay;
    state_effect(e, resizes ? EFFECT_RESIZE : EFFECT_MOVE, g->task, from, g->n, pay);
    if (moves && resizes)
        state_effect(e, EFFECT_MOVE, g->task, g->n, g->n, 0);
}

/* What a changing task had, remembered while it is between its places. */
struct before {
    units_t n, gone;
};

static void take_units(struct engine *e, const struct plan *plan, const struct before *before,
                       usec_t now)
{
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (!g->n || !g->moved)
            continue;
        if (task_running(t))
            change(e, g, before[i].n, before[i].gone, now);
        else if (e->config.instant || fits_now(e, g, t->job))
            start(e, g, now);
        else if (e->why)
            e->why[g->task] = (struct verdict){WHY_RELEASING, TASK_NONE};
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
        state_effect(e, EFFECT_SHARE, s->task, t->n, t->n, 0);
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
    struct before *before = ARENA_ARRAY(&e->arena, plan->n, struct before);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &e->tasks[g->task];
        if (g->n && g->moved && task_running(t))
            before[i] = (struct before){t->n, units_moved(t->at.at, t->at.n, &g->place)};
    }
    if (e->why && plan->why)
        memcpy(e->why, plan->why, e->tasks_cap * sizeof *e->why);
    if (plan->order)
        state_reorder(e, plan->order, plan->by_submit);
    free_units(e, plan, now);
    take_units(e, plan, before, now);
    apply_shares(e, plan);
    apply_memos(e, plan);
}
