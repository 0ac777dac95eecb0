/* Owns the repair of a plan for several pools. Two tasks of equal size gain by an exchange if the
 * one in the first pool has the larger advantage in the second. So for each two pools the tasks are
 * sorted by size and advantage, and those at the ends exchange while that pays. Rounds over all
 * pairs of pools end when nothing changes, which they must as the sum of values grows. */
#include "policy/allocate/exchange.h"

#include "policy/order.h"

enum { ROUNDS = 4 };

struct market {
    const struct snapshot *s;
    struct plan *plan;
    const uint32_t *tasks;
    uint32_t n;
    exchange_value *value;
    const void *ctx;
};

static bool may_exchange(const struct task *t)
{
    const struct job *j = t->job;
    return !j->whole && !j->worker && !j->memory_mb && !j->cpus && !devices_any(&j->devices);
}

/* The candidates in the pool that run in the other one too: by size, then by what they would gain
 * there; `sign` -1 = the most first. */
static uint32_t list_side(const struct market *m, unsigned pool, unsigned other, double sign,
                          struct keyed *k)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        const struct task *t = &m->s->tasks[m->tasks[i]];
        const struct grant *g = plan_grant(m->plan, m->tasks[i]);
        if (!g || !g->n || g->pool != pool || !may_exchange(t) || !task_may_use(t, other))
            continue;
        double there = m->value(m->ctx, i, other, g->n);
        if (!(there > 0))
            continue;
        double gain = pool < other ? there - m->value(m->ctx, i, pool, g->n)
                                   : m->value(m->ctx, i, pool, g->n) - there;
        k[n++] = (struct keyed){g->n, sign * gain, t->submit, t->id, i};
    }
    order_sort(k, n, m->plan->arena);
    return n;
}

/* Exchanges between two pools. The key of both lists is, but for the sign of the first, what the
 * task has in the second pool more than in the first. */
static bool exchange_between(const struct market *m, unsigned a, unsigned b, struct keyed *k)
{
    struct keyed *from = k, *to = k + m->n;
    uint32_t na = list_side(m, a, b, -1, from), nb = list_side(m, b, a, 1, to), i = 0, j = 0;
    bool any = false;
    while (i < na && j < nb) {
        if (from[i].rank != to[j].rank) {
            *(from[i].rank < to[j].rank ? &i : &j) += 1;
            continue;
        }
        double here = -from[i].key, there = to[j].key;
        if (!(here - there > 1e-9 * (here > 0 ? here : -here))) {
            int64_t size = from[i].rank; /* no further pair of this size gains */
            while (i < na && from[i].rank == size)
                i++;
            continue;
        }
        plan_grant(m->plan, m->tasks[from[i++].task])->pool = (uint8_t)b;
        plan_grant(m->plan, m->tasks[to[j++].task])->pool = (uint8_t)a;
        any = true;
    }
    return any;
}

void exchange_pools(const struct snapshot *s, struct plan *plan, const uint32_t *tasks, uint32_t n,
                    exchange_value *value, const void *ctx)
{
    struct market m = {s, plan, tasks, n, value, ctx};
    bool any = s->pools > POOL_GPU + 1;
    struct keyed *k = any ? arena_raw(plan->arena, ((size_t)2 * n + 1) * sizeof *k) : NULL;
    for (int round = 0; any && round < ROUNDS; round++) {
        any = false;
        for (unsigned a = POOL_GPU; a < s->pools; a++)
            for (unsigned b = a + 1; b < s->pools; b++)
                any |= exchange_between(&m, a, b, k);
    }
}
