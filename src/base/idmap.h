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

/* NULL if the key is absent. */
void *idmap_get(const struct idmap *m, uint64_t key);
/* Sets the value, which must not be NULL, and replaces an earlier one. */
void idmap_set(struct idmap *m, uint64_t key, void *value);
/* Does nothing if the key is absent. */
void idmap_remove(struct idmap *m, uint64_t key);
/* Frees the map, not the values. */
void idmap_done(struct idmap *m);

#endif
