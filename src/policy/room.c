/* Owns the free space of nodes while a plan is made. The tree of each pool is a tournament of
 * the nodes' free units: tree[1] is the root and the leaves start at `leaves`. It makes
 * first-fit logarithmic in the number of nodes. */
#include "policy/room.h"

static units_t *pool_free(const struct room *r, unsigned pool)
{
    return pool == POOL_CPU ? r->cpu : r->gpu;
}

units_t room_free(const struct room *r, unsigned pool, uint32_t node)
{
    const struct node *n = &r->s->cluster->nodes[node];
    return pool == POOL_CPU || n->gpu_pool == pool ? pool_free(r, pool)[node] : 0;
}

static void tree_update(struct room *r, unsigned pool, uint32_t node)
{
    units_t *tree = r->tree[pool];
    if (!tree)
        return;
    uint32_t i = r->leaves + node;
    tree[i] = room_free(r, pool, node);
    for (i /= 2; i > 0; i /= 2)
        tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
}

static void tree_build(struct room *r, unsigned pool)
{
    uint32_t n = r->s->cluster->n;
    for (r->leaves = 1; r->leaves < n;)
        r->leaves *= 2;
    units_t *tree = ARENA_ARRAY(r->arena, (size_t)2 * r->leaves, units_t);
    for (uint32_t i = 0; i < n; i++)
        tree[r->leaves + i] = room_free(r, pool, i);
    for (uint32_t i = r->leaves; i-- > 1;)
        tree[i] = tree[2 * i] > tree[2 * i + 1] ? tree[2 * i] : tree[2 * i + 1];
    r->tree[pool] = tree;
}

static void room_alloc(struct room *r, const struct snapshot *s, struct arena *a)
{
    uint32_t n = s->cluster->n;
    *r = (struct room){.s = s, .arena = a};
    r->cpu = arena_raw(a, n * sizeof *r->cpu);
    r->gpu = arena_raw(a, n * sizeof *r->gpu);
    r->memory = arena_raw(a, n * sizeof *r->memory);
    r->devices = arena_raw(a, n * sizeof *r->devices);
}

static void init_empty(struct room *r, const struct snapshot *s, struct arena *a)
{
    room_alloc(r, s, a);
    for (uint32_t i = 0; i < s->cluster->n; i++) {
        const struct node *n = &s->cluster->nodes[i];
        bool up = n->state == NODE_UP;
        r->cpu[i] = up ? n->cpus : 0;
        r->gpu[i] = up ? n->gpus : 0;
        r->memory[i] = node_memory_left(n, 0);
        r->devices[i] = n->devices;
    }
}

void room_init_kept(struct room *r, const struct snapshot *s, struct arena *a)
{
    init_empty(r, s, a);
    for (uint32_t i = s->nkeeping ? s->first : TASK_NONE; i != TASK_NONE; i = s->links[i].next) {
        const struct task *t = &s->tasks[i];
        for (uint32_t k = 0; task_keeps_memory(t) && k < t->at.n; k++)
            room_take(r, t->job, t->pool, t->at.at[k].node, 0, false);
    }
}

/* Frees what a running task gives up when it shrinks to n units; 0 = it stops, or is frozen. */
static void give_back(struct room *r, const struct task *t, units_t n)
{
    struct placement rest = {0};
    if (n)
        rest = room_shrink(t->job, &t->at, n, r->arena);
    for (uint32_t i = 0, k = 0; i < t->at.n; i++) {
        const struct slot *slot = &t->at.at[i];
        bool stays = k < rest.n && rest.at[k].node == slot->node;
        units_t left = stays ? rest.at[k++].units : 0;
        if (left < slot->units)
            room_give(r, t->job, t->pool, slot->node, slot->units - left,
                      !stays && (n || !task_keeps_memory(t)));
    }
}

/* Frees the memory of paused tasks that the plan gives no units: most keep it only while
 * nobody needs it. */
static void give_paused(struct room *r, const struct plan *plan)
{
    const struct snapshot *s = r->s;
    for (uint32_t i = s->npaused ? s->first : TASK_NONE; i != TASK_NONE; i = s->links[i].next) {
        const struct task *t = &s->tasks[i];
        if (t->phase == TASK_PAUSED && !task_keeps_memory(t) && !plan_units(plan, i))
            for (uint32_t k = 0; k < t->at.n; k++)
                room_give(r, t->job, t->pool, t->at.at[k].node, 0, true);
    }
}

/* Starts with what no task holds. */
static void init_free(struct room *r, const struct snapshot *s, struct arena *a)
{
    room_alloc(r, s, a);
    for (uint32_t i = 0; i < s->cluster->n; i++) {
        const struct node *n = &s->cluster->nodes[i];
        bool up = n->state == NODE_UP;
        r->cpu[i] = up ? n->cpus - n->cpu_held : 0;
        r->gpu[i] = up ? n->gpus - n->gpu_held : 0;
        r->memory[i] = node_memory_left(n, n->memory_held);
        r->devices[i] = n->devices;
        devices_add(&r->devices[i], &n->devices_held, -1);
    }
}

void room_init(struct room *r, const struct snapshot *s, const struct plan *plan)
{
    init_free(r, s, plan->arena);
    give_paused(r, plan);
    for (uint32_t i = 0; i < s->nrunning; i++) {
        const struct task *t = &s->tasks[s->running[i]];
        const struct grant *g = plan_grant(plan, s->running[i]);
        if (!g || g->n == 0 || g->pool != t->pool)
            give_back(r, t, 0);
        else if (g->n < t->n)
            give_back(r, t, g->n);
    }
}

void room_init_placed(struct room *r, const struct snapshot *s, const struct plan *plan)
{
    init_free(r, s, plan->arena);
    give_paused(r, plan);
    for (uint32_t i = 0; i < s->nrunning; i++)
        give_back(r, &s->tasks[s->running[i]], 0);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct grant *g = &plan->grants[i];
        const struct task *t = &s->tasks[g->task];
        struct placement at = plan_place(s, g);
        for (uint32_t k = 0; k < at.n; k++)
            room_take(r, t->job, g->pool, at.at[k].node, at.at[k].units,
                      t->phase == TASK_PAUSED || task_keeps_memory(t));
    }
}

units_t room_for(const struct room *r, const struct job *j, unsigned pool, uint32_t node,
                 bool resident)
{
    units_t room = room_free(r, pool, node);
    if (!resident &&
        (j->memory_mb > r->memory[node] || !devices_fit(&j->devices, &r->devices[node])))
        return 0;
    if (pool != POOL_CPU && j->cpus > 0) {
        units_t by_cpu = r->cpu[node] / j->cpus * UNIT;
        room = by_cpu < room ? by_cpu : room;
    }
    return job_whole_workers(j, room);
}

/* Adds n units, and the job's memory and devices `times` times. */
static void room_add(struct room *r, const struct job *j, unsigned pool, uint32_t node, units_t n,
                     int times)
{
    if (r->s->cluster->nodes[node].state == NODE_UP) {
        r->cpu[node] += job_cpus(j, pool, n);
        if (pool != POOL_CPU)
            r->gpu[node] += n;
    }
    if (r->memory[node] != INT64_MAX)
        r->memory[node] += times * j->memory_mb;
    devices_add(&r->devices[node], &j->devices, times);
    tree_update(r, pool, node);
    if (pool != POOL_CPU && j->cpus)
        tree_update(r, POOL_CPU, node);
}

void room_take(struct room *r, const struct job *j, unsigned pool, uint32_t node, units_t n,
               bool resident)
{
    room_add(r, j, pool, node, -n, resident ? 0 : -1);
}

void room_give(struct room *r, const struct job *j, unsigned pool, uint32_t node, units_t n,
               bool leaves)
{
    room_add(r, j, pool, node, n, leaves ? 1 : 0);
}

units_t room_block(struct room *r, unsigned pool, uint32_t node)
{
    units_t n = room_free(r, pool, node);
    room_unblock(r, pool, node, -n);
    return n;
}

void room_unblock(struct room *r, unsigned pool, uint32_t node, units_t n)
{
    pool_free(r, pool)[node] += n;
    tree_update(r, pool, node);
}

/* The first leaf from `from` on with at least n units. */
static uint32_t tree_first(const struct room *r, const units_t *tree, units_t n, uint32_t from)
{
    uint32_t i = r->leaves + from;
    if (from >= r->leaves || tree[1] < n)
        return TASK_NONE;
    while (tree[i] < n) {
        while (i & 1) { /* a right child: the next leaf is in another subtree */
            i /= 2;
            if (i <= 1)
                return TASK_NONE;
        }
        i++;
    }
    while (i < r->leaves)
        i = tree[2 * i] >= n ? 2 * i : 2 * i + 1;
    return i - r->leaves;
}

uint32_t room_first(struct room *r, const struct job *j, unsigned pool, units_t n, uint32_t from)
{
    if (!r->tree[pool])
        tree_build(r, pool);
    for (uint32_t i = from; (i = tree_first(r, r->tree[pool], n, i)) != TASK_NONE; i++)
        if (room_for(r, j, pool, i, false) >= n)
            return i;
    return TASK_NONE;
}

uint32_t room_tightest(struct room *r, const struct job *j, unsigned pool, units_t n)
{
    uint32_t best = TASK_NONE;
    for (uint32_t i = room_first(r, j, pool, n, 0); i != TASK_NONE;
         i = room_first(r, j, pool, n, i + 1)) {
        if (best == TASK_NONE || room_free(r, pool, i) < room_free(r, pool, best))
            best = i;
        if (room_free(r, pool, best) == n)
            break;
    }
    return best;
}

uint32_t room_widest(struct room *r, const struct job *j, unsigned pool)
{
    uint32_t best = TASK_NONE;
    units_t most = 0;
    if (!r->tree[pool])
        tree_build(r, pool);
    if (j->memory_mb == 0 && j->cpus == 0 && !j->worker && !devices_any(&j->devices))
        return r->tree[pool][1] > 0 ? tree_first(r, r->tree[pool], r->tree[pool][1], 0) : TASK_NONE;
    for (uint32_t i = 0; i < r->s->cluster->n; i++) {
        units_t room = room_for(r, j, pool, i, false);
        if (room > most) {
            most = room;
            best = i;
        }
    }
    return best;
}

struct placement room_shrink(const struct job *j, const struct placement *at, units_t n,
                             struct arena *a)
{
    struct placement rest = {arena_raw(a, (at->n + 1) * sizeof *rest.at), at->n};
    units_t have = 0;
    for (uint32_t i = 0; i < at->n; i++) {
        rest.at[i] = at->at[i];
        have += at->at[i].units;
    }
    while (have > n) {
        uint32_t small = j->worker && rest.n > 1 ? 1 : 0;
        for (uint32_t i = small + 1; i < rest.n; i++)
            if (rest.at[i].units <= rest.at[small].units)
                small = i;
        units_t cut = have - n < rest.at[small].units ? have - n : rest.at[small].units;
        have -= cut;
        rest.at[small].units -= cut;
        if (rest.at[small].units == 0) {
            memmove(&rest.at[small], &rest.at[small + 1], (rest.n - small - 1) * sizeof *rest.at);
            rest.n--;
        }
    }
    return rest;
}
