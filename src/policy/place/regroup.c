/* Owns the choice of which tasks are packed again, and whether the result is worth it.
 *
 * Misfits are candidates that were cut down or span more nodes than necessary. First only they
 * are packed again, and all others stay as they are. If that does not help, everything on
 * their nodes is packed, then also everything on the two emptiest nodes of the pool, on eight,
 * and so on up to all. So most misfits are helped by packing a few nodes, which moves few tasks
 * and is fast.
 *
 * Tasks that are also on other nodes stay, and so do tasks that are paused, must stay or are on a
 * node that is not up. No task gets less than it has in the plan.
 *
 * Gain and cost are both in units x time. A packing that gains more than it costs is used, and
 * the search continues from there while there are misfits. If a packing gains all there is to
 * gain and still costs too much, the search ends: a wider one would move more. */
#include "policy/place/regroup.h"

#include "policy/order.h"
#include "policy/place/repack.h"

/* How many of the emptiest nodes are packed besides those of the misfits, and how that
 * number grows. */
enum { FEW = 2, GROWTH = 4 };

struct scope {
    const struct regroup *r;
    const struct snapshot *s;
    struct grant *grants;
    unsigned pool;
    uint32_t usable;     /* nodes of the pool that are up */
    units_t units, cpus; /* of the largest of them */
    int64_t memory;
    struct devices devices; /* the most of each kind on one of them */
    struct candidate *misfits;
    uint32_t nmisfits;
    double hope;        /* the most that they could gain */
    uint32_t *nodes, n; /* whose tasks are packed */
    bool *in;           /* by node */
    uint32_t round;
    uint32_t *listed; /* by grant: the last round that considered it */
    struct parcel *parcels;
};

static bool is_usable(const struct scope *sc, uint32_t node)
{
    const struct node *n = &sc->s->cluster->nodes[node];
    return n->state == NODE_UP && node_size(n, sc->pool) > 0;
}

static void scope_init(struct scope *sc, const struct regroup *r, unsigned pool)
{
    *sc = (struct scope){.r = r, .s = r->s, .grants = r->plan->grants, .pool = pool};
    for (uint32_t i = 0; i < r->s->cluster->n; i++) {
        const struct node *n = &r->s->cluster->nodes[i];
        if (!is_usable(sc, i))
            continue;
        sc->usable++;
        sc->units = node_size(n, pool) > sc->units ? node_size(n, pool) : sc->units;
        sc->cpus = n->cpus > sc->cpus ? n->cpus : sc->cpus;
        int64_t memory = n->memory_mb ? n->memory_mb : INT64_MAX;
        sc->memory = memory > sc->memory ? memory : sc->memory;
        devices_raise(&sc->devices, &n->devices);
    }
    sc->nodes = ARENA_ARRAY(r->plan->arena, r->s->cluster->n, uint32_t);
    sc->in = ARENA_ARRAY(r->plan->arena, r->s->cluster->n, bool);
    sc->misfits = arena_raw(r->plan->arena, (r->n + 1) * sizeof *sc->misfits);
}

static void scope_include(struct scope *sc, uint32_t node)
{
    if (!sc->in[node])
        sc->nodes[sc->n++] = node;
    sc->in[node] = true;
}

static bool can_move(const struct scope *sc, const struct grant *g)
{
    struct placement at = plan_place(sc->s, g);
    for (uint32_t i = 0; i < at.n; i++)
        if (sc->s->cluster->nodes[at.at[i].node].state != NODE_UP)
            return false;
    const struct task *t = &sc->s->tasks[g->task];
    return t->phase != TASK_PAUSED && !task_stays(t) && !t->job->worker;
}

/* What the task gains by n units on k nodes instead of n0 on k0. A task that would not run at
 * all gains all the time that it needs. */
static double gain(const struct scope *sc, const struct task *t, units_t n0, uint32_t k0, units_t n,
                   uint32_t k)
{
    double slower = sc->r->locality, time = task_time_on(t, sc->pool, n, sc->s->now);
    double gained = time;
    if (n0)
        gained = task_time_on(t, sc->pool, n0, sc->s->now) * (1 + slower * (k0 - 1)) -
                 time * (1 + slower * (k - 1));
    return gained * (double)n / UNIT;
}

/* The smallest number of nodes for n units of the job; 0 = it fits on none. */
static uint32_t fewest(const struct scope *sc, const struct job *j, units_t n)
{
    bool fits = j->memory_mb <= sc->memory && devices_fit(&j->devices, &sc->devices);
    units_t most = fits ? sc->units : 0;
    if (sc->pool != POOL_CPU && j->cpus && sc->cpus / j->cpus * UNIT < most)
        most = sc->cpus / j->cpus * UNIT;
    return most > 0 ? (uint32_t)((n + most - 1) / most) : 0;
}

/* The most that the candidate could gain; 0 if it is not a misfit. */
static double could_gain(const struct scope *sc, const struct candidate *c)
{
    const struct grant *g = &sc->grants[c->grant];
    const struct task *t = &sc->s->tasks[g->task];
    uint32_t now = plan_place(sc->s, g).n, least = fewest(sc, t->job, c->want);
    if (g->pool != sc->pool || !least || (g->n == c->want && now <= least) || !can_move(sc, g))
        return 0;
    double most = gain(sc, t, g->n, now, c->want, least), cost = 0;
    /* A task that stays on too many nodes gains only if it moves itself. */
    if (!g->moved && g->n == c->want)
        cost = (double)t->job->cost.move * (double)g->n / UNIT;
    return most > cost ? most : 0;
}

/* Finds the misfits; false if there are none. */
static bool find_misfits(struct scope *sc)
{
    sc->hope = 0;
    sc->nmisfits = 0;
    for (uint32_t i = 0; i < sc->r->n; i++) {
        const struct candidate *c = &sc->r->list[i];
        double most = could_gain(sc, c);
        if (!(most > 0))
            continue;
        sc->hope += most;
        sc->misfits[sc->nmisfits++] = *c;
        struct placement at = plan_place(sc->s, &sc->grants[c->grant]);
        for (uint32_t k = 0; k < at.n; k++)
            scope_include(sc, at.at[k].node);
    }
    return sc->nmisfits > 0;
}

/* The usable nodes, the emptiest first. */
static uint32_t *rank_nodes(const struct scope *sc)
{
    struct keyed *k = ARENA_ARRAY(sc->r->plan->arena, sc->usable, struct keyed);
    uint32_t *ranked = ARENA_ARRAY(sc->r->plan->arena, sc->usable, uint32_t), n = 0;
    for (uint32_t i = 0; i < sc->s->cluster->n; i++)
        if (is_usable(sc, i))
            k[n++] = (struct keyed){-room_free(sc->r->room, sc->pool, i), 0, 0, i, i};
    order_sort(k, n, sc->r->plan->arena);
    for (uint32_t i = 0; i < n; i++)
        ranked[i] = k[i].task;
    return ranked;
}

/* Adds the grant to the packing, off its nodes, if it can be moved within the scope. */
static void add_parcel(struct scope *sc, struct repack *p, uint32_t grant, units_t want)
{
    const struct grant *g = &sc->grants[grant];
    const struct task *t = &sc->s->tasks[g->task];
    struct placement at = plan_place(sc->s, g);
    if (g->pool != sc->pool || want == 0 || sc->listed[grant] == sc->round)
        return;
    sc->listed[grant] = sc->round;
    for (uint32_t i = 0; i < at.n; i++)
        if (!sc->in[at.at[i].node])
            return;
    if (!can_move(sc, g))
        return;
    for (uint32_t i = 0; i < at.n; i++)
        room_give(&p->room, t->job, sc->pool, at.at[i].node, at.at[i].units, true);
    p->parcels[p->n++] = (struct parcel){.task = t, .grant = grant, .want = want, .least = g->n};
}

static void copy_room(struct room *to, const struct room *from)
{
    size_t n = from->s->cluster->n;
    *to = (struct room){.s = from->s, .arena = from->arena};
    to->cpu = memcpy(arena_raw(to->arena, n * sizeof *to->cpu), from->cpu, n * sizeof *to->cpu);
    to->gpu = memcpy(arena_raw(to->arena, n * sizeof *to->gpu), from->gpu, n * sizeof *to->gpu);
    to->memory =
        memcpy(arena_raw(to->arena, n * sizeof *to->memory), from->memory, n * sizeof *to->memory);
    to->devices = memcpy(arena_raw(to->arena, n * sizeof *to->devices), from->devices,
                         n * sizeof *to->devices);
}

/* Gathers the misfits alone, for any node. */
static void gather_misfits(struct scope *sc, struct repack *p, const uint32_t *nodes)
{
    *p = (struct repack){.pool = sc->pool, .nodes = nodes, .nnodes = sc->usable};
    p->parcels = sc->parcels;
    copy_room(&p->room, sc->r->room);
    sc->round++;
    for (uint32_t i = 0; i < sc->nmisfits; i++)
        add_parcel(sc, p, sc->misfits[i].grant, sc->misfits[i].want);
}

/* Gathers everything that can be moved within the scope. */
static void gather_scope(struct scope *sc, struct repack *p)
{
    *p = (struct repack){.pool = sc->pool, .nodes = sc->nodes, .nnodes = sc->n};
    p->parcels = sc->parcels;
    copy_room(&p->room, sc->r->room);
    sc->round++;
    for (uint32_t i = 0; i < sc->r->n; i++)
        add_parcel(sc, p, sc->r->list[i].grant, sc->r->list[i].want);
    for (uint32_t i = 0; i < sc->n; i++) {
        const struct node *n = &sc->s->cluster->nodes[sc->nodes[i]];
        for (size_t k = 0; k < n->tasks.n; k++) {
            uint32_t grant = sc->r->plan->grant_of[n->tasks.at[k]];
            if (grant != TASK_NONE)
                add_parcel(sc, p, grant, sc->grants[grant].n);
        }
    }
}

/* For how long the task stops when it goes to these n units. */
static usec_t stop(const struct task *t, units_t n, const struct placement *at)
{
    return task_running(t) ? task_change_cost(t, n, at) : 0;
}

/* What the packing gains, and what the moves that it adds to the plan cost. */
static double weigh(const struct scope *sc, const struct repack *p, double *cost)
{
    double gained = 0;
    *cost = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct parcel *q = &p->parcels[i];
        struct placement before = plan_place(sc->s, &sc->grants[q->grant]);
        if (q->n == 0)
            continue;
        if (q->n != q->least || q->at.n != before.n)
            gained += gain(sc, q->task, q->least, before.n, q->n, q->at.n);
        usec_t longer = stop(q->task, q->n, &q->at) - stop(q->task, q->least, &before);
        *cost += (double)longer * (double)q->n / UNIT;
    }
    return gained;
}

static void adopt(const struct scope *sc, const struct repack *p)
{
    struct room *room = sc->r->room;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct parcel *q = &p->parcels[i];
        const struct task *t = q->task;
        struct grant *g = &sc->grants[q->grant];
        struct placement old = plan_place(sc->s, g);
        for (uint32_t k = 0; k < old.n; k++)
            room_give(room, t->job, sc->pool, old.at[k].node, old.at[k].units, true);
        for (uint32_t k = 0; k < q->at.n; k++)
            room_take(room, t->job, sc->pool, q->at.at[k].node, q->at.at[k].units, false);
        bool stays = task_running(t) && t->pool == sc->pool && t->n == q->n &&
                     placement_lost(&t->at, &q->at) == 0;
        g->n = q->n;
        g->moved = q->n && !stays;
        g->place = g->moved ? q->at : (struct placement){0};
        if (q->least < q->want && q->n == q->want)
            plan_deny(sc->r->plan, g->task, WHY_NONE, TASK_NONE);
    }
}

/* Sets the verdict of tasks that the packing would have helped. */
static void refuse(const struct scope *sc, const struct repack *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->parcels[i].n > p->parcels[i].least)
            plan_deny(sc->r->plan, sc->grants[p->parcels[i].grant].task, WHY_COST, TASK_NONE);
}

enum outcome { TAKEN, REFUSED, NO_HELP };

/* Packs what was gathered, and uses the result if it is worth it. */
static enum outcome try_packing(const struct scope *sc, struct repack *p)
{
    const double nearly = 1 - 1e-9; /* hope and gain are sums in different orders */
    double cost;
    if (!repack_solve(p))
        return NO_HELP;
    double gained = weigh(sc, p, &cost);
    if (gained > cost) {
        adopt(sc, p);
        return TAKEN;
    }
    if (gained < sc->hope * nearly)
        return NO_HELP;
    refuse(sc, p);
    return REFUSED;
}

bool regroup_pool(const struct regroup *r, unsigned pool)
{
    struct scope sc;
    struct repack p;
    scope_init(&sc, r, pool);
    if (!find_misfits(&sc))
        return false;
    const uint32_t *ranked = rank_nodes(&sc);
    sc.listed = ARENA_ARRAY(r->plan->arena, r->plan->n, uint32_t);
    sc.parcels = arena_raw(r->plan->arena, r->plan->n * sizeof *sc.parcels);
    gather_misfits(&sc, &p, ranked);
    enum outcome outcome = try_packing(&sc, &p);
    bool better = outcome == TAKEN, all = false;
    for (uint32_t width = 0, next = 0; !all && outcome != REFUSED;
         width = width ? width * GROWTH : FEW) {
        if (outcome == TAKEN && !find_misfits(&sc))
            break;
        for (; next < width && next < sc.usable; next++)
            scope_include(&sc, ranked[next]);
        all = sc.n == sc.usable;
        gather_scope(&sc, &p);
        outcome = try_packing(&sc, &p);
        better |= outcome == TAKEN;
    }
    return better;
}
