/* A hash map from numbers to pointers. */
#ifndef BASE_IDMAP_H
#define BASE_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
    uint64_t key;
    void *value; /* NULL = empty */
};

struct idmap {
    struct idmap_slot *slots; /* open addressing with linear probing, at most half full */
    size_t n, cap;            /* cap is 0 or a power of two */
};

/* NULL when the key is not there. */
void *idmap_get(const struct idmap *m, uint64_t key);
/* The value, not NULL, replaces what the key had. */
void idmap_set(struct idmap *m, uint64_t key, void *value);
/* Does nothing when the key is not there. */
void idmap_remove(struct idmap *m, uint64_t key);
/* Frees the map, not the values. */
void idmap_done(struct idmap *m);

#endif
