/* Owns the counting of units while an allocator works. Invariant: free[p] is the pool's size
 * minus everything that was taken, and never negative. Units on draining nodes are not part
 * of the size, so what a task holds there costs nothing. */
#include "policy/budget.h"

#include <math.h>

unsigned budget_pool(const struct snapshot *s, const struct task *t)
{
    unsigned best = POOL_GPU;
    double top = -1;
    if (task_is_bound(t))
        return task_pool(t);
    for (unsigned p = POOL_GPU; p < s->pools; p++) {
        bool large = t->pools >> p & 1 && s->size[p] >= t->job->min;
        double speed = large ? speed_at(job_speed(t->job, p), task_asked(t)) : 0;
        if (speed > top) {
            top = speed;
            best = p;
        }
    }
    return best;
}

/* Units x time that the task would take in the pool; 0 = it cannot run there. */
static double load_of(const struct snapshot *s, const struct task *t, unsigned pool)
{
    units_t n = task_asked(t);
    double time = task_time_on(t, pool, n, s->now);
    return isfinite(time) ? time * (double)n : 0;
}

/* The pool in which the task would be done first, after the load that is there already. */
static unsigned first_done(const struct snapshot *s, const struct task *t,
                           const double load[POOLS_MAX])
{
    unsigned best = POOLS_MAX;
    double least = INFINITY;
    for (unsigned p = POOL_GPU; p < s->pools; p++) {
        if (!(t->pools >> p & 1) || s->size[p] < t->job->min ||
            !(speed_at(job_speed(t->job, p), task_asked(t)) > 0))
            continue;
        double end = (load[p] + load_of(s, t, p)) / (double)s->size[p];
        if (end < least) {
            least = end;
            best = p;
        }
    }
    return best < POOLS_MAX ? best : budget_pool(s, t);
}

const uint8_t *budget_pools(const struct snapshot *s, const uint32_t *order, struct arena *a)
{
    uint8_t *pools = arena_raw(a, (size_t)s->active + 1);
    double load[POOLS_MAX] = {0};
    bool several = s->pools > POOL_GPU + 1;
    for (uint32_t i = 0; i < s->active; i++) {
        const struct task *t = &s->tasks[order[i]];
        bool bound = task_is_bound(t);
        pools[i] = (uint8_t)(bound ? task_pool(t) : POOL_GPU);
        if (several && bound)
            load[pools[i]] += load_of(s, t, pools[i]);
    }
    for (uint32_t i = 0; several && i < s->active; i++) {
        const struct task *t = &s->tasks[order[i]];
        if (task_is_bound(t))
            continue;
        pools[i] = (uint8_t)first_done(s, t, load);
        load[pools[i]] += load_of(s, t, pools[i]);
    }
    return pools;
}

void budget_init(struct budget *b, const struct snapshot *s, struct arena *a)
{
    *b = (struct budget){.s = s, .arena = a};
    for (unsigned p = 0; p < s->pools; p++)
        b->free[p] = s->size[p];
}

void budget_count_by_node(struct budget *b)
{
    if (b->by_node)
        return;
    b->by_node = true;
    room_init_kept(&b->room, b->s, b->arena);
    b->node_of = arena_raw(b->arena, (size_t)b->s->tasks_cap * sizeof *b->node_of);
    memset(b->node_of, 0xff, (size_t)b->s->tasks_cap * sizeof *b->node_of);
}

/* The part of the task's units of the pool that is on nodes that are not up. */
static units_t outside(const struct budget *b, const struct task *t, unsigned pool)
{
    units_t sum = 0;
    if (b->s->shut && task_running(t) && t->pool == pool)
        for (uint32_t i = 0; i < t->at.n; i++)
            if (b->s->cluster->nodes[t->at.at[i].node].state != NODE_UP)
                sum += t->at.at[i].units;
    return sum;
}

/* How many of n units for the task are taken from the pool. */
static units_t inside(const struct budget *b, const struct task *t, unsigned pool, units_t n)
{
    units_t out = outside(b, t, pool);
    return n > out ? n - out : 0;
}

/* The node for a task that must fit on one: its own while possible, otherwise the tightest. */
static uint32_t node_for(struct budget *b, const struct task *t, unsigned pool, units_t n)
{
    if ((task_running(t) || t->phase == TASK_PAUSED) && t->at.n && t->pool == pool) {
        uint32_t own = t->at.at[0].node;
        if (b->s->cluster->nodes[own].state != NODE_UP ||
            room_for(&b->room, t->job, pool, own, task_keeps_memory(t)) >= n)
            return own;
        if (t->phase == TASK_PAUSED || task_stays(t))
            return TASK_NONE;
    }
    return room_tightest(&b->room, t->job, pool, n);
}

/* The most units that the job can get on the nodes that are up, if no task ran. */
static units_t most_on_nodes(const struct budget *b, const struct job *j, unsigned pool)
{
    struct room room;
    units_t sum = 0;
    if (!b->s->nkeeping)
        return cluster_most(b->s->cluster, j, pool, true);
    room_init_kept(&room, b->s, b->arena);
    for (uint32_t i = 0; i < b->s->cluster->n; i++)
        sum += room_for(&room, j, pool, i, false);
    return sum;
}

/* Whether the nodes that are up have enough memory and devices, and CPUs to go with their GPUs.
 * Tasks that must fit on one node are counted by node instead. */
static bool can_fit(struct budget *b, const struct task *t, units_t n, unsigned pool)
{
    const struct job *j = t->job;
    bool stays = task_running(t) && t->pool == pool;
    bool plain = !j->cpus && !j->memory_mb && !j->worker && !devices_any(&j->devices);
    if (plain || j->whole || stays)
        return true;
    if (b->fit.worker != j->worker || b->fit.nodes != j->nodes || b->fit.apart != j->apart ||
        b->fit.cpus != j->cpus || b->fit.memory_mb != j->memory_mb || b->fit.pool != pool ||
        !devices_equal(&b->fit.devices, &j->devices)) {
        b->fit.worker = j->worker;
        b->fit.nodes = j->nodes;
        b->fit.apart = j->apart;
        b->fit.cpus = j->cpus;
        b->fit.memory_mb = j->memory_mb;
        b->fit.devices = j->devices;
        b->fit.pool = pool;
        b->fit.most = most_on_nodes(b, j, pool);
    }
    return b->fit.most >= n;
}

/* Whether the task is paused on a node where nothing can start. */
static bool is_shut_in(const struct budget *b, const struct task *t)
{
    for (uint32_t i = 0; b->s->shut && t->phase == TASK_PAUSED && i < t->at.n; i++)
        if (b->s->cluster->nodes[t->at.at[i].node].state != NODE_UP)
            return true;
    return false;
}

static bool take_from(struct budget *b, uint32_t task, units_t n, unsigned pool)
{
    const struct task *t = &b->s->tasks[task];
    units_t charge = inside(b, t, pool, n);
    if (b->free[pool] < charge || is_shut_in(b, t) || !can_fit(b, t, n, pool))
        return false;
    if (t->job->whole)
        budget_count_by_node(b);
    if (t->job->whole) {
        uint32_t node = node_for(b, t, pool, n);
        if (node == TASK_NONE)
            return false;
        b->node_of[task] = node;
        room_take(&b->room, t->job, pool, node, n, task_keeps_memory(t));
    }
    b->free[pool] -= charge;
    return true;
}

/* How fast the task would be in the pool with n units, or with what is left there up to
 * `reach`; 0 if it cannot run on n. */
static double prospect(const struct budget *b, const struct task *t, unsigned pool, units_t n,
                       units_t reach)
{
    const struct speed *speed = job_speed(t->job, pool);
    units_t most = reach < b->free[pool] ? reach : b->free[pool];
    double least = speed_at(speed, n);
    return most > n && least > 0 ? speed_at(speed, speed_floor(speed, most)) : least;
}

/* Takes n units for a task that may grow up to `reach`. */
static bool take(struct budget *b, uint32_t task, units_t n, units_t reach, unsigned *pool)
{
    const struct task *t = &b->s->tasks[task];
    if (task_is_bound(t)) {
        *pool = task_pool(t);
        return take_from(b, task, n, *pool);
    }
    if (b->s->pools == POOL_GPU + 1) {
        *pool = POOL_GPU;
        return take_from(b, task, n, POOL_GPU);
    }
    uint32_t tried = ~t->pools;
    for (unsigned round = POOL_GPU; round < b->s->pools; round++) {
        unsigned best = POOLS_MAX;
        double top = 0;
        for (unsigned p = POOL_GPU; p < b->s->pools; p++) {
            double speed = tried >> p & 1 ? 0 : prospect(b, t, p, n, reach);
            if (speed > top) {
                top = speed;
                best = p;
            }
        }
        if (best == POOLS_MAX)
            return false;
        if (take_from(b, task, n, best)) {
            *pool = best;
            return true;
        }
        tried |= 1U << best;
    }
    return false;
}

bool budget_take(struct budget *b, uint32_t task, units_t n, unsigned *pool)
{
    return take(b, task, n, n, pool);
}

units_t budget_room(const struct budget *b, uint32_t task, unsigned pool, units_t n)
{
    const struct task *t = &b->s->tasks[task];
    units_t out = outside(b, t, pool), room = b->free[pool] + (out > n ? out - n : 0);
    if (!t->job->whole)
        return room;
    units_t here = room_for(&b->room, t->job, pool, b->node_of[task], true);
    return here < room ? here : room;
}

bool budget_grow(struct budget *b, uint32_t task, unsigned pool, units_t from, units_t to)
{
    const struct task *t = &b->s->tasks[task];
    units_t charge = inside(b, t, pool, to) - inside(b, t, pool, from);
    if (b->free[pool] < charge)
        return false;
    if (t->job->whole) {
        uint32_t node = b->node_of[task];
        if (room_for(&b->room, t->job, pool, node, true) < to - from)
            return false;
        room_take(&b->room, t->job, pool, node, to - from, true);
    }
    b->free[pool] -= charge;
    return true;
}

void budget_return(struct budget *b, uint32_t task, unsigned pool, units_t n)
{
    const struct task *t = &b->s->tasks[task];
    b->free[pool] += inside(b, t, pool, n);
    if (t->job->whole)
        room_give(&b->room, t->job, pool, b->node_of[task], n, !task_keeps_memory(t));
}

static bool grant(struct budget *b, struct plan *plan, uint32_t task, units_t n, units_t reach)
{
    unsigned pool;
    if (!take(b, task, n, reach, &pool)) {
        plan_deny(plan, task, WHY_NO_ROOM, TASK_NONE);
        return false;
    }
    plan_give(plan, task, pool, n);
    return true;
}

bool budget_grant(struct budget *b, struct plan *plan, uint32_t task, units_t n)
{
    return grant(b, plan, task, n, n);
}

bool budget_grant_least(struct budget *b, struct plan *plan, uint32_t task)
{
    const struct task *t = &b->s->tasks[task];
    return grant(b, plan, task, task_min(t), task_max(t));
}

bool budget_grant_in(struct budget *b, struct plan *plan, uint32_t task, unsigned pool, units_t n)
{
    if (!take_from(b, task, n, pool)) {
        plan_deny(plan, task, WHY_NO_ROOM, TASK_NONE);
        return false;
    }
    plan_give(plan, task, pool, n);
    return true;
}

void budget_keep_running(struct budget *b, struct plan *plan)
{
    for (uint32_t i = 0; i < b->s->nrunning; i++) {
        uint32_t task = b->s->running[i];
        units_t n = task_asked(&b->s->tasks[task]);
        unsigned pool;
        if (budget_take(b, task, n, &pool))
            plan_give(plan, task, pool, n);
    }
}

units_t budget_most(const struct budget *b)
{
    units_t most = 0;
    if (b->s->shut)
        return INT64_MAX;
    for (unsigned p = 0; p < b->s->pools; p++)
        most = b->free[p] > most ? b->free[p] : most;
    return most;
}
