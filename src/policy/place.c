/* Owns the mechanics of placing. Grants are placed in the allocator's order, so that scarce
 * room goes to those that it put first. */
#include "policy/place.h"

void place_add(struct placement *p, uint32_t *cap, uint32_t node, units_t n, struct arena *a)
{
    for (uint32_t i = 0; i < p->n; i++)
        if (p->at[i].node == node) {
            p->at[i].units += n;
            return;
        }
    if (p->n == *cap) {
        *cap = *cap ? *cap * 2 : 2;
        struct slot *more = arena_raw(a, *cap * sizeof *more);
        if (p->n)
            memcpy(more, p->at, p->n * sizeof *more);
        p->at = more;
    }
    p->at[p->n++] = (struct slot){node, n};
}

/* Takes up to n units for the task on its own nodes; returns what was taken. */
static units_t extend(struct room *r, const struct task *t, unsigned pool, units_t n,
                      struct placement *p, uint32_t *cap)
{
    units_t taken = 0;
    for (uint32_t i = 0; i < t->at.n && taken < n; i++) {
        uint32_t node = t->at.at[i].node;
        units_t room = room_for(r, t->job, pool, node, true);
        units_t more = room < n - taken ? room : n - taken;
        if (r->s->cluster->nodes[node].state != NODE_UP || t->job->apart || more <= 0)
            continue;
        place_add(p, cap, node, more, r->arena);
        room_take(r, t->job, pool, node, more, true);
        taken += more;
    }
    return taken;
}

/* Makes the nodes of the placement, from number `from` on, unavailable or available again. */
static void shut(struct room *r, unsigned pool, const struct placement *p, uint32_t from,
                 units_t *kept, bool close)
{
    for (uint32_t i = from; i < p->n; i++)
        if (close)
            kept[i] = room_block(r, pool, p->at[i].node);
        else
            room_unblock(r, pool, p->at[i].node, kept[i]);
}

/* Takes up to n units on the emptiest nodes, fewest nodes first. */
static units_t split(struct room *r, const struct task *t, unsigned pool, units_t n,
                     struct placement *p, uint32_t *cap)
{
    const struct job *j = t->job;
    units_t taken = 0, *kept = NULL;
    uint32_t most = j->worker && j->nodes ? j->nodes : UINT32_MAX;
    if (j->apart) {
        kept = ARENA_ARRAY(r->arena, r->s->cluster->n, units_t);
        shut(r, pool, p, 0, kept, true);
    }
    while (taken < n && p->n < most) {
        uint32_t node = room_widest(r, t->job, pool);
        if (node == TASK_NONE)
            break;
        units_t room = room_for(r, t->job, pool, node, false);
        units_t more = room < n - taken ? room : n - taken;
        bool resident = placement_on(p, node) > 0;
        place_add(p, cap, node, more, r->arena);
        room_take(r, t->job, pool, node, more, resident);
        taken += more;
        if (j->apart)
            shut(r, pool, p, p->n - 1, kept, true);
    }
    if (j->apart)
        shut(r, pool, p, 0, kept, false);
    return taken;
}

static void untake(struct room *r, const struct task *t, unsigned pool, const struct placement *p)
{
    for (uint32_t i = 0; i < p->n; i++)
        room_give(r, t->job, pool, p->at[i].node, p->at[i].units, true);
}

/* Returns `surplus` units, the last ones added first, but none that the task holds now. */
static void cut_back(struct room *r, const struct task *t, unsigned pool, units_t surplus,
                     struct placement *p)
{
    for (uint32_t i = p->n; i-- > 0 && surplus > 0;) {
        units_t own = i < t->at.n ? t->at.at[i].units : 0;
        units_t cut = p->at[i].units - own < surplus ? p->at[i].units - own : surplus;
        if (cut <= 0)
            continue;
        p->at[i].units -= cut;
        surplus -= cut;
        room_give(r, t->job, pool, p->at[i].node, cut, p->at[i].units == 0);
        if (p->at[i].units == 0)
            p->n--; /* the last part: those before it are the task's own */
    }
}

/* The largest size that the task can run on with at most n units; 0 = none. */
static units_t runnable(const struct task *t, unsigned pool, units_t n)
{
    units_t size = speed_floor(job_speed(t->job, pool), n), least = task_min(t);
    if (n < least)
        return 0;
    return size >= least && size >= t->job->min ? size : least;
}

static void lower_grant(struct plan *plan, struct grant *g, units_t n, enum why why)
{
    g->n = n;
    plan_deny(plan, g->task, why, TASK_NONE);
}

/* Units on the task's only node that stopping tasks will free. */
static units_t being_freed(const struct room *r, const struct task *t)
{
    const struct node *node = &r->s->cluster->nodes[t->at.at[0].node];
    units_t sum = 0;
    for (size_t i = 0; i < node->tasks.n; i++) {
        const struct task *other = &r->s->tasks[node->tasks.at[i]];
        if (other->phase == TASK_STOPPING && other->pool == t->pool)
            sum += placement_on(&other->at, t->at.at[0].node);
    }
    return sum;
}

static void grow(struct room *r, struct plan *plan, struct grant *g, const struct task *t)
{
    uint32_t cap = t->at.n;
    struct placement p = {arena_raw(r->arena, (cap + 1) * sizeof *p.at), t->at.n};
    memcpy(p.at, t->at.at, t->at.n * sizeof *p.at);
    units_t have = t->n + extend(r, t, g->pool, g->n - t->n, &p, &cap);
    if (have < g->n && !t->job->whole)
        have += split(r, t, g->pool, g->n - have, &p, &cap);
    bool waits = have < g->n && t->job->whole && !task_keeps_size(t);
    if (waits && have + being_freed(r, t) >= g->n) {
        /* It must grow, and will have room: the engine makes it wait until then. */
        p.at[0].units = g->n;
    } else if (have < g->n) {
        units_t size = runnable(t, g->pool, have);
        size = size < t->n && task_keeps_size(t) ? t->n : size; /* it stays as it is */
        cut_back(r, t, g->pool, have - (size > t->n ? size : t->n), &p);
        if (size < t->n)
            p = room_shrink(t->job, &p, size, r->arena);
        lower_grant(plan, g, size, WHY_FRAGMENTED);
    }
    g->moved = g->n != t->n;
    g->place = p;
}

static void place_whole(struct room *r, struct plan *plan, struct grant *g, const struct task *t,
                        uint32_t node)
{
    if (node == TASK_NONE) {
        node = room_widest(r, t->job, g->pool);
        units_t room = node == TASK_NONE ? 0 : room_for(r, t->job, g->pool, node, false);
        lower_grant(plan, g, room ? runnable(t, g->pool, room < g->n ? room : g->n) : 0,
                    WHY_FRAGMENTED);
    }
    if (g->n == 0)
        return;
    uint32_t cap = 0;
    place_add(&g->place, &cap, node, g->n, r->arena);
    room_take(r, t->job, g->pool, node, g->n, false);
    g->moved = true;
}

static void place_split(struct room *r, struct plan *plan, struct grant *g, const struct task *t)
{
    uint32_t cap = 0;
    struct placement p = {0};
    units_t have = split(r, t, g->pool, g->n, &p, &cap);
    if (have < g->n) {
        units_t size = runnable(t, g->pool, have);
        untake(r, t, g->pool, &p);
        lower_grant(plan, g, size, t->job->memory_mb ? WHY_MEMORY : WHY_FRAGMENTED);
        if (size == 0)
            return;
        p = (struct placement){0};
        cap = 0;
        split(r, t, g->pool, size, &p, &cap);
    }
    g->place = p;
    g->moved = true;
}

/* Divides n units over the task's own nodes: one unit on each (or what it had, if less), then
 * up to what it had on each, then up to what is free. Returns what was placed; 0 if that
 * leaves a node without units. */
static units_t refill(const struct room *r, const struct task *t, unsigned pool, units_t n,
                      struct placement *p)
{
    units_t left = n;
    *p = (struct placement){ARENA_ARRAY(r->arena, t->at.n, struct slot), t->at.n};
    for (int round = 0; round < 3; round++)
        for (uint32_t i = 0; i < t->at.n; i++) {
            const struct slot *had = &t->at.at[i];
            units_t first = had->units < UNIT || t->job->worker ? had->units : UNIT;
            units_t want = round == 0 ? first : had->units;
            units_t most = room_for(r, t->job, pool, had->node, true);
            want = round < 2 && want < most ? want : most;
            units_t more = want - p->at[i].units < left ? want - p->at[i].units : left;
            p->at[i].node = had->node;
            p->at[i].units += more > 0 ? more : 0;
            left -= more > 0 ? more : 0;
            if (p->at[i].units == 0 || (p->at[i].units < first && t->at.n > 1))
                return 0;
        }
    return n - left;
}

/* A paused task continues where its memory is, or waits. */
static void resume(struct room *r, struct plan *plan, struct grant *g, const struct task *t)
{
    struct placement p;
    units_t have = refill(r, t, g->pool, g->n, &p);
    if (have < g->n) {
        lower_grant(plan, g, runnable(t, g->pool, have), have ? WHY_FRAGMENTED : WHY_NO_ROOM);
        if (g->n && refill(r, t, g->pool, g->n, &p) < g->n)
            g->n = 0;
        if (g->n == 0)
            return;
    }
    for (uint32_t i = 0; i < p.n; i++)
        room_take(r, t->job, g->pool, p.at[i].node, p.at[i].units, true);
    g->place = p;
    g->moved = true;
}

static void start(struct room *r, struct plan *plan, struct grant *g, const struct task *t,
                  place_choose choose, void *ctx)
{
    if (t->phase == TASK_PAUSED) {
        resume(r, plan, g, t);
        return;
    }
    units_t kept = g->not_on ? room_block(r, g->pool, g->not_on - 1) : 0;
    bool seated = g->on && room_for(r, t->job, g->pool, g->on - 1, false) >= g->n;
    uint32_t node = seated ? g->on - 1 : choose(r, t, g->pool, g->n, ctx);
    if (node != TASK_NONE || t->job->whole)
        place_whole(r, plan, g, t, node);
    else
        place_split(r, plan, g, t);
    if (g->not_on)
        room_unblock(r, g->pool, g->not_on - 1, kept);
}

void place_grants(struct room *r, struct plan *plan, place_choose choose, void *ctx)
{
    for (uint32_t i = 0; i < plan->n; i++) {
        struct grant *g = &plan->grants[i];
        const struct task *t = &r->s->tasks[g->task];
        if (g->n == 0 || g->moved)
            continue;
        if (!task_running(t) || t->pool != g->pool) {
            start(r, plan, g, t, choose, ctx);
        } else if (g->n < t->n) {
            g->place = room_shrink(t->job, &t->at, g->n, r->arena);
            g->moved = true;
        } else if (g->n > t->n) {
            grow(r, plan, g, t);
        }
    }
}

void place_in_place(const struct snapshot *s, struct plan *plan, place_choose choose, void *ctx)
{
    struct room r;
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct task *t = &s->tasks[plan->grants[i].task];
        if (plan->grants[i].n != t->n || plan->grants[i].pool != t->pool) {
            room_init(&r, s, plan);
            place_grants(&r, plan, choose, ctx);
            return;
        }
    }
}
