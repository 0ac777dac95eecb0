/* Owns the sorting of tasks. A few entries that are out of order are inserted where they
 * belong. If that would move too much, a natural merge sort takes over, with one pass for
 * every doubling of the number of sorted runs. Both are stable, so the result is the same. */
#include "policy/order.h"

struct keyed *order_collect(const struct snapshot *s, struct arena *a)
{
    struct keyed *k = arena_raw(a, ((size_t)s->active + 1) * sizeof *k);
    bool ties = s->rules != RULES_TIRESIAS && s->rules != RULES_MURI;
    uint32_t n = 0;
    SNAPSHOT_EACH (s, i) {
        const struct task *t = &s->tasks[i];
        k[n++] = (struct keyed){-task_class(t), 0, ties ? t->submit : 0, ties ? t->id : 0, i};
    }
    return k;
}

static bool after(const struct keyed *a, const struct keyed *b)
{
    if (a->rank != b->rank)
        return a->rank > b->rank;
    if (a->key != b->key)
        return a->key > b->key;
    if (a->tie != b->tie)
        return a->tie > b->tie;
    return a->id > b->id;
}

/* The index after the sorted run that starts at i. */
static uint32_t run_end(const struct keyed *k, uint32_t i, uint32_t n)
{
    for (i++; i < n && !after(&k[i - 1], &k[i]); i++)
        ;
    return i;
}

static void merge(const struct keyed *from, uint32_t low, uint32_t mid, uint32_t high,
                  struct keyed *to)
{
    uint32_t a = low, b = mid;
    for (uint32_t i = low; i < high; i++)
        to[i] = a < mid && (b >= high || !after(&from[a], &from[b])) ? from[a++] : from[b++];
}

/* Where k[i] belongs among the sorted entries before it: after those that are equal.
 * Searches near i first, at doubling distances. */
static uint32_t place_of(const struct keyed *k, uint32_t i)
{
    uint32_t high = i - 1, step = 1; /* k[high] comes after k[i] */
    while (step <= high && after(&k[high - step], &k[i])) {
        high -= step;
        step *= 2;
    }
    for (uint32_t low = high > step ? high - step : 0; low < high;) {
        uint32_t mid = low + (high - low) / 2;
        if (after(&k[mid], &k[i]))
            high = mid;
        else
            low = mid + 1;
    }
    return high;
}

/* Inserts entries from i on that are out of order, as long as that moves no more entries than
 * one pass over all. False if there is more to do. */
static bool insert_few(struct keyed *k, uint32_t i, uint32_t n)
{
    for (uint32_t moved = 0; i < n; i = run_end(k, i, n)) {
        uint32_t to = place_of(k, i);
        moved += i - to;
        if (moved > n)
            return false;
        struct keyed entry = k[i];
        memmove(&k[to + 1], &k[to], (i - to) * sizeof *k);
        k[to] = entry;
    }
    return true;
}

bool order_sort(struct keyed *k, uint32_t n, struct arena *a)
{
    uint32_t first = n < 2 ? n : run_end(k, 0, n);
    if (first == n)
        return false;
    if (insert_few(k, first, n))
        return true;
    struct keyed *from = k, *to = arena_raw(a, (size_t)n * sizeof *to);
    for (uint32_t runs = 2; runs > 1;) {
        runs = 0;
        for (uint32_t low = 0, mid, high; low < n; low = high) {
            mid = run_end(from, low, n);
            high = mid < n ? run_end(from, mid, n) : n;
            merge(from, low, mid, high, to);
            runs++;
        }
        struct keyed *swap = from;
        from = to;
        to = swap;
    }
    if (from != k)
        memcpy(k, from, (size_t)n * sizeof *k);
    return true;
}

void order_publish(const struct keyed *k, uint32_t n, struct plan *plan)
{
    uint32_t *order = arena_raw(plan->arena, ((size_t)n + 1) * sizeof *order);
    for (uint32_t i = 0; i < n; i++)
        order[i] = k[i].task;
    plan->order = order;
}

const uint32_t *order_by_submit(const struct snapshot *s, struct plan *plan)
{
    uint32_t *order = arena_raw(plan->arena, ((size_t)s->active + 1) * sizeof *order), n = 0;
    if (!s->by_submit) {
        struct keyed *k = order_collect(s, plan->arena);
        order_sort(k, s->active, plan->arena);
        order_publish(k, s->active, plan);
        plan->by_submit = true;
        return plan->order;
    }
    SNAPSHOT_EACH (s, i)
        order[n++] = i;
    return order;
}

const uint32_t *order_grants(const struct snapshot *s, const struct plan *plan)
{
    struct keyed *k = arena_raw(plan->arena, ((size_t)plan->n + 1) * sizeof *k);
    uint32_t *order = arena_raw(plan->arena, ((size_t)plan->n + 1) * sizeof *order);
    for (uint32_t i = 0; i < plan->n; i++) {
        const struct task *t = &s->tasks[plan->grants[i].task];
        k[i] = (struct keyed){.tie = t->submit, .id = t->id, .task = i};
    }
    order_sort(k, plan->n, plan->arena);
    for (uint32_t i = 0; i < plan->n; i++)
        order[i] = k[i].task;
    return order;
}
