/* Owns the heap of bids. */
#include "policy/bids.h"

#include <stdbool.h>

static bool better(struct bid a, struct bid b)
{
    return a.key != b.key ? a.key > b.key : a.at < b.at;
}

void bids_init(struct bids *b, uint32_t cap, struct arena *a)
{
    b->heap = arena_raw(a, ((size_t)cap + 1) * sizeof *b->heap);
    b->n = 0;
}

void bids_push(struct bids *b, double key, uint32_t at)
{
    struct bid bid = {key, at};
    uint32_t i = b->n++;
    for (; i && better(bid, b->heap[(i - 1) / 2]); i = (i - 1) / 2)
        b->heap[i] = b->heap[(i - 1) / 2];
    b->heap[i] = bid;
}

static void sift_down(struct bids *b, struct bid bid)
{
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < b->n; i = child) {
        if (child + 1 < b->n && better(b->heap[child + 1], b->heap[child]))
            child++;
        if (!better(b->heap[child], bid))
            break;
        b->heap[i] = b->heap[child];
    }
    b->heap[i] = bid;
}

void bids_pop(struct bids *b)
{
    struct bid last = b->heap[--b->n];
    if (b->n)
        sift_down(b, last);
}

void bids_replace(struct bids *b, double key)
{
    sift_down(b, (struct bid){key, b->heap[0].at});
}
