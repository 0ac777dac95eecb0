/* An indexed binary heap of small integer ids ordered by (key, id), smallest first. Equal keys
 * are ordered by id, so the order never depends on the history of the heap. An id is in the heap
 * at most once. */
#ifndef BASE_HEAP_H
#define BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct heap_entry {
    int64_t key;
    uint32_t id;
};

struct heap {
    struct heap_entry *at;
    uint32_t *where; /* where[id] = position + 1, 0 = not in the heap */
    size_t n, cap, ids;
};

/* Inserts the id, or changes its key. */
void heap_set(struct heap *h, uint32_t id, int64_t key);
void heap_remove(struct heap *h, uint32_t id);
bool heap_has(const struct heap *h, uint32_t id);
/* The smallest entry; the heap must not be empty. */
struct heap_entry heap_top(const struct heap *h);
struct heap_entry heap_pop(struct heap *h);
void heap_done(struct heap *h);

#endif
