/* best-fit: jobs whole on the tightest node, and others moved out of the way when
 * that brings more than it costs.
 *
 * 1. In place: running tasks stay; what starts or grows goes to the tightest node
 *    that holds it whole, else over the fewest nodes. If nothing had to be cut
 *    down and nothing spans more nodes than it must, that is the plan.
 * 2. Otherwise the nodes of those misfits and the few emptiest of the pool are
 *    packed anew (policy/repack.h), then four times as many, and so on up to all
 *    of them. Tasks that are paused, touch a node that is not up, or reach out of
 *    the packed nodes stay as they are. No task gets less than in 1.
 * 3. The first packing whose gain exceeds its cost is taken. Both count in units
 *    times time: a task that is granted more than in 1 gains what it ends sooner,
 *    one that would not run its whole remaining time, and every node fewer is
 *    `locality` of the remaining time; every task that moves stops for its cost.
 *    Widening ends when a packing brings all there is to gain: its cost decides.
 *
 * Jobs that run on too many nodes are misfits too, but for these alone a packing
 * is looked for at most once in `every` after one in vain.
 *
 * Source: Voda (Hsieh and others), placement management: best fit on anonymous
 * nodes, then the Hungarian method for the fewest moves. Deviations: it packs the
 * whole cluster at every decision and moves whatever comes out; it takes all
 * nodes as equal; it has no memory, no pinned jobs and no cost of a move.
 *
 * Memo (all): i[0] = 1 + when a packing for running jobs alone was last looked for
 * in vain; 0 = never. */
#include "policy/order.h"
#include "policy/place.h"
#include "policy/policies.h"
#include "policy/repack.h"

enum { LOCALITY, EVERY };
enum { WIDTH = 4 }; /* emptiest nodes in the first packing, and the factor of growth */

/* A grant that changes, or a running one on several nodes. */
struct candidate {
    uint32_t grant;
    units_t want; /* before it was placed */
};

struct hunt {
    const struct snapshot *s;
    struct plan *plan;
    double locality;
    struct room room; /* what is free when all is placed */
    struct candidate *list;
    uint32_t n;
    bool changes, spread; /* the list has candidates of the first and second kind */

    /* Of the pool that is packed: */
    unsigned pool;
    units_t units, cpus; /* of its largest nodes */
    double hope;         /* all there is to gain */
    uint32_t *nodes;     /* that are packed */
    uint32_t nnodes;
    bool *in;         /* by node: it is one of them */
    uint32_t *listed; /* by grant: the width of the last packing that it was part of */
};

static const struct task *task_of(const struct hunt *h, const struct grant *g)
{
    return &h->s->tasks[g->task];
}

/* Where the plan has it. */
static struct placement place_of(const struct hunt *h, const struct grant *g)
{
    return g->n == 0 ? (struct placement){0} : g->moved ? g->place : task_of(h, g)->at;
}

static void collect(struct hunt *h, bool look)
{
    h->list = arena_raw(h->plan->arena, (h->plan->n + 1) * sizeof *h->list);
    for (uint32_t i = 0; i < h->plan->n; i++) {
        const struct grant *g = &h->plan->grants[i];
        const struct task *t = task_of(h, g);
        bool changes = !task_running(t) || g->n != t->n || g->pool != t->pool;
        bool spread = !changes && look && t->at.n > 1;
        if (g->n && (changes || spread))
            h->list[h->n++] = (struct candidate){i, g->n};
        h->changes |= changes;
        h->spread |= spread;
    }
}

static bool can_move(const struct hunt *h, const struct grant *g)
{
    struct placement at = place_of(h, g);
    for (uint32_t i = 0; i < at.n; i++)
        if (h->s->cluster->nodes[at.at[i].node].state != NODE_UP)
            return false;
    return task_of(h, g)->phase != TASK_PAUSED;
}

/* What it brings a task to have n units on k nodes instead of n0 on k0. */
static double gain(const struct hunt *h, const struct task *t, units_t n0, uint32_t k0, units_t n,
                   uint32_t k)
{
    double time = task_time_on(t, h->pool, n, h->s->now), gained = time;
    if (n0 == n)
        gained = time * h->locality * ((double)k0 - k);
    else if (n0)
        gained = task_time_on(t, h->pool, n0, h->s->now) * (1 + h->locality * (k0 - 1)) -
                 time * (1 + h->locality * (k - 1));
    return gained * (double)n / UNIT;
}

/* The fewest nodes on which n units of the job could be. */
static uint32_t fewest(const struct hunt *h, const struct job *j, units_t n)
{
    units_t most = h->units;
    if (h->pool != POOL_CPU && j->cpus && h->cpus / j->cpus * UNIT < most)
        most = h->cpus / j->cpus * UNIT;
    return most > 0 ? (uint32_t)((n + most - 1) / most) : 1;
}

static void include(struct hunt *h, uint32_t node)
{
    if (!h->in[node])
        h->nodes[h->nnodes++] = node;
    h->in[node] = true;
}

/* Sums up what the misfits of the pool could gain, and includes their nodes. */
static void find_misfits(struct hunt *h)
{
    for (uint32_t i = 0; i < h->n; i++) {
        const struct grant *g = &h->plan->grants[h->list[i].grant];
        if (g->pool != h->pool)
            continue;
        const struct task *t = task_of(h, g);
        struct placement at = place_of(h, g);
        units_t want = h->list[i].want;
        double most = gain(h, t, g->n, at.n, want, fewest(h, t->job, want));
        if (!(most > 0) || !can_move(h, g))
            continue;
        h->hope += most;
        for (uint32_t k = 0; k < at.n; k++)
            include(h, at.at[k].node);
    }
}

/* The nodes of the pool that are up, the emptiest first. */
static struct keyed *rank_nodes(struct hunt *h, uint32_t *n)
{
    struct keyed *k = ARENA_ARRAY(h->plan->arena, h->s->cluster->n, struct keyed);
    *n = 0;
    for (uint32_t i = 0; i < h->s->cluster->n; i++) {
        const struct node *node = &h->s->cluster->nodes[i];
        units_t size = node_size(node, h->pool);
        if (node->state != NODE_UP || size == 0)
            continue;
        k[(*n)++] = (struct keyed){-room_free(&h->room, h->pool, i), 0, 0, i, i};
        h->units = size > h->units ? size : h->units;
        h->cpus = node->cpus > h->cpus ? node->cpus : h->cpus;
    }
    order_sort(k, *n, h->plan->arena);
    return k;
}

/* Makes a parcel of the grant, if all of it is on nodes that are packed. */
static void add_parcel(struct hunt *h, struct repack *r, uint32_t grant, units_t want,
                       uint32_t width)
{
    const struct grant *g = &h->plan->grants[grant];
    const struct task *t = task_of(h, g);
    struct placement at = place_of(h, g);
    if (h->listed[grant] == width || g->pool != h->pool || want == 0)
        return;
    h->listed[grant] = width;
    for (uint32_t i = 0; i < at.n; i++)
        if (!h->in[at.at[i].node])
            return;
    if (!can_move(h, g))
        return;
    for (uint32_t i = 0; i < at.n; i++)
        room_give(&r->room, t->job, h->pool, at.at[i].node, at.at[i].units, true);
    r->parcels[r->n++] = (struct parcel){.task = t, .grant = grant, .want = want, .least = g->n};
}

static void copy_room(struct room *to, const struct room *from)
{
    uint32_t n = from->s->cluster->n;
    *to = (struct room){.s = from->s, .arena = from->arena};
    to->cpu = memcpy(arena_raw(to->arena, n * sizeof *to->cpu), from->cpu, n * sizeof *to->cpu);
    to->gpu = memcpy(arena_raw(to->arena, n * sizeof *to->gpu), from->gpu, n * sizeof *to->gpu);
    to->memory = memcpy(arena_raw(to->arena, n * sizeof *to->memory), from->memory,
                        n * sizeof *to->memory);
}

static void gather(struct hunt *h, struct repack *r, uint32_t width)
{
    *r = (struct repack){.pool = h->pool, .nodes = h->nodes, .nnodes = h->nnodes};
    r->parcels = arena_raw(h->plan->arena, (h->plan->n + 1) * sizeof *r->parcels);
    copy_room(&r->room, &h->room);
    for (uint32_t i = 0; i < h->n; i++)
        add_parcel(h, r, h->list[i].grant, h->list[i].want, width);
    for (uint32_t i = 0; i < h->nnodes; i++) {
        const struct node *n = &h->s->cluster->nodes[h->nodes[i]];
        for (size_t k = 0; k < n->tasks.n; k++) {
            uint32_t grant = h->plan->grant_of[n->tasks.at[k]];
            if (grant != TASK_NONE)
                add_parcel(h, r, grant, h->plan->grants[grant].n, width);
        }
    }
}

/* Units of the old places that are not in the new ones. */
static units_t units_gone(const struct placement *old, const struct placement *new)
{
    units_t gone = 0;
    for (uint32_t i = 0; i < old->n; i++) {
        units_t stays = 0;
        for (uint32_t k = 0; k < new->n && !stays; k++)
            stays = new->at[k].node == old->at[i].node ? new->at[k].units : 0;
        gone += old->at[i].units > stays ? old->at[i].units - stays : 0;
    }
    return gone;
}

/* How long the task stops when it goes to these n units, as the engine reckons. */
static usec_t stop(const struct task *t, units_t n, const struct placement *at)
{
    if (!task_running(t))
        return 0;
    usec_t resize = n != t->n ? t->job->cost.resize : 0, move = t->job->cost.move;
    bool moves = units_gone(&t->at, at) > (t->n > n ? t->n - n : 0);
    return moves && move > resize ? move : resize;
}

/* What the packing brings, and what the moves that it adds to the plan cost. */
static void weigh(const struct hunt *h, const struct repack *r, double *gained, double *cost)
{
    *gained = *cost = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        const struct parcel *p = &r->parcels[i];
        struct placement before = place_of(h, &h->plan->grants[p->grant]);
        if (p->n == 0)
            continue;
        if (p->n != p->least || p->at.n != before.n)
            *gained += gain(h, p->task, p->least, before.n, p->n, p->at.n);
        *cost += (double)(stop(p->task, p->n, &p->at) - stop(p->task, p->least, &before)) *
                 (double)p->n / UNIT;
    }
}

static void adopt(struct hunt *h, const struct repack *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        const struct parcel *p = &r->parcels[i];
        struct grant *g = &h->plan->grants[p->grant];
        struct placement before = place_of(h, g);
        for (uint32_t k = 0; k < before.n; k++)
            room_give(&h->room, p->task->job, h->pool, before.at[k].node, before.at[k].units, true);
        for (uint32_t k = 0; k < p->at.n; k++)
            room_take(&h->room, p->task->job, h->pool, p->at.at[k].node, p->at.at[k].units, false);
        bool stays = task_running(p->task) && p->task->pool == h->pool && p->task->n == p->n &&
                     units_gone(&p->task->at, &p->at) == 0;
        g->n = p->n;
        g->moved = p->n && !stays;
        g->place = g->moved ? p->at : (struct placement){0};
        if (p->least < p->want && p->n == p->want)
            plan_deny(h->plan, g->task, WHY_NONE, TASK_NONE);
    }
}
