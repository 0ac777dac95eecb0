/* A heap of bids: the largest key first, ties to the smaller index. */
#ifndef POLICY_BIDS_H
#define POLICY_BIDS_H

#include <stdint.h>

#include "base/mem.h"

struct bid {
    double key;
    uint32_t at; /* whose bid it is: an index of the caller */
};

struct bids {
    struct bid *heap;
    uint32_t n;
};

void bids_init(struct bids *b, uint32_t cap, struct arena *a);
void bids_push(struct bids *b, double key, uint32_t at);
/* The best bid; the heap must not be empty. */
static inline struct bid bids_top(const struct bids *b)
{
    return b->heap[0];
}
void bids_pop(struct bids *b);
/* Changes the key of the best bid. */
void bids_replace(struct bids *b, double key);

#endif
