/* Owns plans. grant_of[] and the grants always agree: a task has at most one grant. A grant
 * that is taken back stays in the array with n = 0, which the engine skips. */
#include "model/plan.h"

static const char *const names[] = {
#define X(name, code) [WHY_##name] = code,
    WHY_CODES(X)
#undef X
};

const char *why_name(enum why why)
{
    return names[why];
}

/* Doubles an array in the arena; the old one is freed when the arena is reset. */
static void *grow(struct arena *a, const void *old, uint32_t n, uint32_t *cap, size_t size)
{
    *cap = *cap ? *cap * 2 : 64;
    void *fresh = arena_raw(a, (size_t)*cap * size);
    if (n)
        memcpy(fresh, old, (size_t)n * size);
    return fresh;
}

void plan_init(struct plan *p, const struct snapshot *s, struct arena *a, bool explain)
{
    *p = (struct plan){.arena = a, .wake_at = USEC_NEVER, .start_wake_at = USEC_NEVER};
    p->grant_of = arena_raw(a, (size_t)s->tasks_cap * sizeof *p->grant_of);
    memset(p->grant_of, 0xff, (size_t)s->tasks_cap * sizeof *p->grant_of);
    if (explain)
        p->why = ARENA_ARRAY(a, s->tasks_cap, struct verdict);
}

void plan_give(struct plan *p, uint32_t task, unsigned pool, units_t n)
{
    struct grant *g = plan_grant(p, task);
    if (g) {
        g->n = n;
        g->pool = (uint8_t)pool;
        return;
    }
    if (n == 0)
        return;
    if (p->n == p->cap)
        p->grants = grow(p->arena, p->grants, p->n, &p->cap, sizeof *p->grants);
    p->grant_of[task] = p->n;
    p->grants[p->n++] = (struct grant){.task = task, .pool = (uint8_t)pool, .n = n};
}

void plan_ride(struct plan *p, uint32_t task, uint32_t host)
{
    if (p->nrides == p->rides_cap)
        p->rides = grow(p->arena, p->rides, p->nrides, &p->rides_cap, sizeof *p->rides);
    p->rides[p->nrides++] = (struct ride){task, host};
}

void plan_share(struct plan *p, uint32_t task, units_t limit, double weight)
{
    if (p->nshares == p->shares_cap)
        p->shares = grow(p->arena, p->shares, p->nshares, &p->shares_cap, sizeof *p->shares);
    p->shares[p->nshares++] = (struct cpu_share){task, limit, weight};
}

void plan_enlist(struct plan *p, const struct snapshot *s, enum axis axis, uint32_t task,
                 uint8_t list)
{
    if (s->tasks[task].list[axis] == list)
        return;
    if (p->nlists == p->lists_cap)
        p->lists = grow(p->arena, p->lists, p->nlists, &p->lists_cap, sizeof *p->lists);
    p->lists[p->nlists++] = (struct list_write){axis, task, list};
}

void plan_measured(struct plan *p, uint32_t task, double bandwidth)
{
    if (p->nmeasured == p->measured_cap)
        p->measured =
            grow(p->arena, p->measured, p->nmeasured, &p->measured_cap, sizeof *p->measured);
    p->measured[p->nmeasured++] = (struct measurement){task, bandwidth};
}

void plan_remember(struct plan *p, enum axis axis, enum memo_scope scope, uint32_t index,
                   const struct memo *memo)
{
    if (p->nmemos == p->memos_cap)
        p->memos = grow(p->arena, p->memos, p->nmemos, &p->memos_cap, sizeof *p->memos);
    p->memos[p->nmemos++] = (struct memo_write){scope, axis, index, *memo};
}
