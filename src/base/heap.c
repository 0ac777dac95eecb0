/* Owns the indexed binary heap. Invariant: where[at[i].id] == i + 1. */
#include "base/heap.h"

#include "base/mem.h"

static bool before(struct heap_entry a, struct heap_entry b)
{
    return a.key != b.key ? a.key < b.key : a.id < b.id;
}

static void put(struct heap *h, size_t i, struct heap_entry e)
{
    h->at[i] = e;
    h->where[e.id] = (uint32_t)i + 1;
}

static void sift_up(struct heap *h, size_t i, struct heap_entry e)
{
    for (; i && before(e, h->at[(i - 1) / 2]); i = (i - 1) / 2)
        put(h, i, h->at[(i - 1) / 2]);
    put(h, i, e);
}

static void sift_down(struct heap *h, size_t i, struct heap_entry e)
{
    for (;;) {
        size_t child = 2 * i + 1;
        if (child >= h->n)
            break;
        if (child + 1 < h->n && before(h->at[child + 1], h->at[child]))
            child++;
        if (!before(h->at[child], e))
            break;
        put(h, i, h->at[child]);
        i = child;
    }
    put(h, i, e);
}

static void settle(struct heap *h, size_t i, struct heap_entry e)
{
    if (i && before(e, h->at[(i - 1) / 2]))
        sift_up(h, i, e);
    else
        sift_down(h, i, e);
}

void heap_set(struct heap *h, uint32_t id, int64_t key)
{
    if (id >= h->ids) {
        size_t ids = h->ids * 2 > (size_t)id + 1 ? h->ids * 2 : (size_t)id + 1;
        h->where = xgrowarray(h->where, h->ids, ids, sizeof *h->where);
        h->ids = ids;
    }
    struct heap_entry e = {key, id};
    if (h->where[id]) {
        settle(h, h->where[id] - 1, e);
        return;
    }
    VEC_RESERVE(h, h->n + 1);
    sift_up(h, h->n++, e);
}

void heap_remove(struct heap *h, uint32_t id)
{
    if (!heap_has(h, id))
        return;
    size_t i = h->where[id] - 1;
    h->where[id] = 0;
    struct heap_entry last = h->at[--h->n];
    if (i < h->n)
        settle(h, i, last);
}

bool heap_has(const struct heap *h, uint32_t id)
{
    return id < h->ids && h->where[id];
}

struct heap_entry heap_top(const struct heap *h)
{
    return h->at[0];
}

struct heap_entry heap_pop(struct heap *h)
{
    struct heap_entry top = h->at[0];
    heap_remove(h, top.id);
    return top;
}

void heap_done(struct heap *h)
{
    free(h->at);
    free(h->where);
    *h = (struct heap){0};
}
