/* Owns packing from scratch, in four steps.
 *
 * Pack: the nodes become empty anonymous bins. Parcels are packed by size, the largest first,
 * each into the tightest bin that holds all of it. If there is none, the parcel fills the
 * emptiest bin, and the rest of it is packed by the same rule. If a parcel does not get its
 * least, those that want more than their least are put last, and the packing is tried once
 * more.
 *
 * Name: bins get names of nodes by maximum-weight matching. The weight of a bin and a node is
 * the number of units in the bin that are on the node now. Bins can be exchanged only among
 * nodes of one class, which have equal room for what is packed (units, and memory and CPUs if
 * a parcel needs them), so every match is legal, whatever else stays on the nodes.
 *
 * Trade: parcels with the same footprint can swap places without changing the load of any
 * node. A parcel that can have a place on its present node takes it. Without this, a job that
 * ends would shift all later jobs of the order by one place, and half of them to another node.
 *
 * Go home: best fit uses as few nodes as possible. A parcel that was moved only for that goes
 * back if its own node has room for it.
 *
 * Invariant: bins are numbered so that a class is a range of numbers. Until the end, the slots
 * of a parcel hold bin numbers instead of nodes. */
#include "policy/place/repack.h"

#include "policy/order.h"
#include "policy/place.h"
#include "policy/place/assign.h"

/* A bin in the order of what is free in it. */
struct level {
    units_t free;
    uint32_t bin;
};

struct bins {
    struct repack *r;
    struct arena *arena;
    uint32_t n;
    uint32_t *node;       /* by bin: whose room it has */
    uint32_t *of_node;    /* by node: its bin, TASK_NONE = not to be used */
    uint32_t *class_end;  /* by bin: the first one after its class */
    struct level *levels; /* ascending by free units, then bin */
    uint32_t *order;      /* parcels, largest first */
};

static const struct placement nowhere = {NULL, 0};

/* Where the task holds units of the pool now. */
static const struct placement *home(const struct bins *b, const struct task *t)
{
    return task_running(t) && t->pool == b->r->pool ? &t->at : &nowhere;
}

static bool same_class(const struct keyed *a, const struct keyed *b)
{
    return a->rank == b->rank && a->key == b->key && a->tie == b->tie;
}

/* Numbers the bins by class and fills the levels. */
static void bins_init(struct bins *b, struct repack *r)
{
    bool memory = false, cpus = false, devices = false;
    uint32_t nodes = r->room.s->cluster->n, n = r->nnodes;
    for (uint32_t i = 0; i < r->n; i++) {
        memory |= r->parcels[i].task->job->memory_mb > 0;
        cpus |= r->pool != POOL_CPU && r->parcels[i].task->job->cpus > 0;
        devices |= devices_any(&r->parcels[i].task->job->devices);
    }
    *b = (struct bins){.r = r, .arena = r->room.arena, .n = n};
    struct keyed *k = ARENA_ARRAY(b->arena, n, struct keyed);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t node = r->nodes[i];
        k[i] = (struct keyed){room_free(&r->room, r->pool, node),
                              memory ? (double)r->room.memory[node] : 0,
                              cpus ? r->room.cpu[node] : 0, node, node};
        if (devices) /* no node stands for another one */
            k[i].tie = node;
    }
    order_sort(k, n, b->arena);
    b->node = ARENA_ARRAY(b->arena, n, uint32_t);
    b->of_node = arena_raw(b->arena, nodes * sizeof *b->of_node);
    memset(b->of_node, 0xff, nodes * sizeof *b->of_node);
    b->class_end = ARENA_ARRAY(b->arena, n, uint32_t);
    b->levels = ARENA_ARRAY(b->arena, n, struct level);
    b->order = ARENA_ARRAY(b->arena, r->n, uint32_t);
    for (uint32_t i = n; i-- > 0;) {
        b->node[i] = k[i].task;
        b->of_node[k[i].task] = i;
        b->class_end[i] = i + 1 < n && same_class(&k[i], &k[i + 1]) ? b->class_end[i + 1] : i + 1;
        b->levels[i] = (struct level){k[i].rank, i};
    }
}

/* The first level that is not below (free, bin). */
static uint32_t level_find(const struct bins *b, units_t free, uint32_t bin)
{
    uint32_t low = 0, high = b->n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct level *l = &b->levels[mid];
        if (l->free < free || (l->free == free && l->bin < bin))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Takes n units in the bin, or returns them if n is negative. */
static void bin_take(struct bins *b, const struct job *j, uint32_t bin, units_t n)
{
    struct repack *r = b->r;
    units_t free = room_free(&r->room, r->pool, b->node[bin]);
    uint32_t from = level_find(b, free, bin), to = level_find(b, free - n, bin);
    if (n > 0) {
        room_take(&r->room, j, r->pool, b->node[bin], n, false);
        memmove(&b->levels[to + 1], &b->levels[to], (from - to) * sizeof *b->levels);
    } else {
        room_give(&r->room, j, r->pool, b->node[bin], -n, true);
        to--; /* it leaves a place below the new one */
        memmove(&b->levels[from], &b->levels[from + 1], (to - from) * sizeof *b->levels);
    }
    b->levels[to] = (struct level){free - n, bin};
}

static units_t bin_room(const struct bins *b, const struct job *j, uint32_t bin)
{
    return room_for(&b->r->room, j, b->r->pool, b->node[bin], false);
}

/* The bin with the least sufficient room; TASK_NONE = none. */
static uint32_t tightest(const struct bins *b, const struct job *j, units_t n)
{
    for (uint32_t i = level_find(b, n, 0); i < b->n; i++)
        if (bin_room(b, j, b->levels[i].bin) >= n)
            return b->levels[i].bin;
    return TASK_NONE;
}

/* The bin with the most room for the job. */
static uint32_t emptiest(const struct bins *b, const struct job *j)
{
    uint32_t best = TASK_NONE;
    units_t most = 0;
    for (uint32_t i = b->n; i-- > 0 && b->levels[i].free > most;) {
        units_t room = bin_room(b, j, b->levels[i].bin);
        if (room > most) {
            most = room;
            best = b->levels[i].bin;
        }
    }
    return best;
}

static void unpack(struct bins *b, struct parcel *p)
{
    for (uint32_t i = 0; i < p->at.n; i++)
        bin_take(b, p->task->job, p->at.at[i].node, -p->at.at[i].units);
    p->at = nowhere;
}

/* Packs n units of the parcel; takes nothing if they do not fit. */
static bool pack(struct bins *b, struct parcel *p, units_t n)
{
    const struct job *j = p->task->job;
    uint32_t cap = 0;
    p->n = n;
    for (units_t left = n, more; left > 0; left -= more) {
        uint32_t bin = tightest(b, j, left);
        if (bin == TASK_NONE && !j->whole)
            bin = emptiest(b, j);
        if (bin == TASK_NONE) {
            unpack(b, p);
            return false;
        }
        units_t room = bin_room(b, j, bin);
        more = room < left ? room : left;
        place_add(&p->at, &cap, bin, more, b->arena);
        bin_take(b, j, bin, more);
    }
    return true;
}

/* Packs all parcels: largest first, among equal sizes those with more memory, then by
 * submission. With `modest`, parcels that want more than their least come last, in the order of
 * the plan. On failure all bins are empty again. */
static bool pack_all(struct bins *b, bool modest)
{
    struct repack *r = b->r;
    struct keyed *k = ARENA_ARRAY(b->arena, r->n, struct keyed);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct parcel *p = &r->parcels[i];
        const struct job *j = p->task->job;
        k[i] = (struct keyed){-p->want, -(double)j->memory_mb, j->submit, j->id, i};
        if (modest && p->least < p->want)
            k[i].rank = p->grant;
    }
    order_sort(k, r->n, b->arena);
    for (uint32_t i = 0; i < r->n; i++) {
        struct parcel *p = &r->parcels[k[i].task];
        b->order[i] = k[i].task;
        if (pack(b, p, p->want) || pack(b, p, p->least))
            continue;
        for (uint32_t m = 0; m < i; m++)
            unpack(b, &r->parcels[k[m].task]);
        return false;
    }
    return true;
}

struct part {
    const struct placement *home; /* of its task */
    units_t units;
};

/* The parts in bin i are parts[first[i]] to parts[first[i + 1] - 1]. */
struct contents {
    uint32_t *first;
    struct part *parts;
    size_t pairs; /* of a part and a place where its task is now */
};

static struct contents list_contents(const struct bins *b)
{
    const struct repack *r = b->r;
    struct contents c = {.first = ARENA_ARRAY(b->arena, b->n + 1, uint32_t)};
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->parcels[i].at.n; k++)
            c.first[r->parcels[i].at.at[k].node]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= b->n; i++)
        sum = c.first[i] += sum;
    c.parts = ARENA_ARRAY(b->arena, sum, struct part);
    for (uint32_t i = r->n; i-- > 0;) /* backwards, so that first[] ends at the first parts */
        for (uint32_t k = 0; k < r->parcels[i].at.n; k++) {
            const struct slot *slot = &r->parcels[i].at.at[k];
            const struct placement *now = home(b, r->parcels[i].task);
            c.parts[--c.first[slot->node]] = (struct part){now, slot->units};
            c.pairs += now->n;
        }
    return c;
}

/* The units of each bin that are on each node of its class now. */
static struct assign_graph weigh_names(const struct bins *b)
{
    struct contents c = list_contents(b);
    struct assign_edge *edges = ARENA_ARRAY(b->arena, c.pairs, struct assign_edge);
    uint32_t *first = ARENA_ARRAY(b->arena, b->n + 1, uint32_t), n = 0;
    uint32_t *edge_of = arena_raw(b->arena, b->n * sizeof *edge_of); /* by node's bin */
    memset(edge_of, 0xff, b->n * sizeof *edge_of);
    for (uint32_t bin = 0; bin < b->n; bin++) {
        for (const struct part *p = &c.parts[c.first[bin]]; p < &c.parts[c.first[bin + 1]]; p++)
            for (uint32_t k = 0; k < p->home->n; k++) {
                units_t now = p->home->at[k].units;
                uint32_t to = b->of_node[p->home->at[k].node];
                if (to == TASK_NONE || b->class_end[to] != b->class_end[bin])
                    continue;
                if (edge_of[to] == TASK_NONE || edge_of[to] < first[bin]) {
                    edge_of[to] = n;
                    edges[n++] = (struct assign_edge){to, 0};
                }
                edges[edge_of[to]].weight += now < p->units ? now : p->units;
            }
        first[bin + 1] = n;
    }
    return (struct assign_graph){b->n, first, edges};
}

/* Returns, by bin, the node whose name it gets; of_node[] becomes the inverse. */
static uint32_t *name_bins(struct bins *b)
{
    struct assign_graph g = weigh_names(b);
    uint32_t *name = ARENA_ARRAY(b->arena, b->n, uint32_t);
    bool *used = ARENA_ARRAY(b->arena, b->n, bool);
    assign_solve(&g, name, b->arena);
    for (uint32_t bin = 0; bin < b->n; bin++)
        if (name[bin] != ASSIGN_NONE)
            used[name[bin]] = true;
    /* A class has as many names left as bins without one. */
    for (uint32_t bin = 0, next = 0; bin < b->n; bin++) {
        if (bin == 0 || b->class_end[bin - 1] == bin)
            next = bin;
        if (name[bin] != ASSIGN_NONE)
            continue;
        while (used[next])
            next++;
        name[bin] = next++;
    }
    for (uint32_t bin = 0; bin < b->n; bin++) {
        name[bin] = b->node[name[bin]];
        b->of_node[name[bin]] = bin;
    }
    return name;
}

static bool same_footprint(const struct parcel *a, const struct parcel *b)
{
    return a->n == b->n && a->at.n == 1 && b->at.n == 1 &&
           a->task->job->memory_mb == b->task->job->memory_mb &&
           devices_equal(&a->task->job->devices, &b->task->job->devices) &&
           a->task->job->cpus == b->task->job->cpus;
}

/* Takes a free place on a node that the task is on; TASK_NONE = there is none. */
static uint32_t claim(const struct bins *b, const struct placement *now, uint32_t *free)
{
    for (uint32_t k = 0; k < now->n; k++) {
        uint32_t bin = b->of_node[now->at[k].node];
        if (bin != TASK_NONE && free[bin]) {
            free[bin]--;
            return bin;
        }
    }
    return TASK_NONE;
}

/* Distributes the places of n parcels with the same footprint. free[], by bin, is all zero
 * before and after. */
static void trade(struct bins *b, const uint32_t *run, uint32_t n, uint32_t *free)
{
    struct parcel *parcels = b->r->parcels;
    uint32_t *place = ARENA_ARRAY(b->arena, n, uint32_t);
    for (uint32_t i = 0; i < n; i++) {
        place[i] = parcels[run[i]].at.at[0].node;
        parcels[run[i]].at.at[0].node = TASK_NONE;
        free[place[i]]++;
    }
    /* Parcels that are on one node now have the most to lose, so they choose first. */
    for (int split = 0; split < 2; split++)
        for (uint32_t i = 0; i < n; i++) {
            const struct placement *now = home(b, parcels[run[i]].task);
            if ((now->n > 1) == split)
                parcels[run[i]].at.at[0].node = claim(b, now, free);
        }
    for (uint32_t i = 0, next = 0; i < n; i++) {
        if (parcels[run[i]].at.at[0].node != TASK_NONE)
            continue;
        while (!free[place[next]])
            next++;
        free[place[next]]--;
        parcels[run[i]].at.at[0].node = place[next];
    }
}

static void trade_all(struct bins *b)
{
    struct parcel *parcels = b->r->parcels;
    uint32_t *free = ARENA_ARRAY(b->arena, b->n, uint32_t);
    for (uint32_t i = 0, end; i < b->r->n; i = end) {
        const struct parcel *p = &parcels[b->order[i]];
        for (end = i + 1; end < b->r->n && same_footprint(p, &parcels[b->order[end]]); end++)
            ;
        if (end > i + 1)
            trade(b, &b->order[i], end - i, free);
    }
}

/* The bin of the only node that the task is on; TASK_NONE = several, or not packed. */
static uint32_t home_bin(const struct bins *b, const struct task *t)
{
    const struct placement *now = home(b, t);
    return now->n == 1 ? b->of_node[now->at[0].node] : TASK_NONE;
}

/* Puts parcels back on their own nodes where there is room. Each one that goes makes room for
 * others. */
static void go_home(struct bins *b)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < b->r->n; i++) {
            struct parcel *p = &b->r->parcels[b->order[i]];
            uint32_t bin = home_bin(b, p->task);
            if (p->at.n != 1 || bin == TASK_NONE || p->at.at[0].node == bin ||
                bin_room(b, p->task->job, bin) < p->n)
                continue;
            bin_take(b, p->task->job, p->at.at[0].node, -p->n);
            bin_take(b, p->task->job, bin, p->n);
            p->at.at[0].node = bin;
            more = true;
        }
    }
}

bool repack_solve(struct repack *r)
{
    struct bins b;
    bins_init(&b, r);
    if (!pack_all(&b, false) && !pack_all(&b, true))
        return false;
    const uint32_t *name = name_bins(&b);
    trade_all(&b);
    go_home(&b);
    for (uint32_t i = 0; i < r->n; i++)
        for (uint32_t k = 0; k < r->parcels[i].at.n; k++)
            r->parcels[i].at.at[k].node = name[r->parcels[i].at.at[k].node];
    return true;
}
