/* A hash map from strings to numbers. Keys are borrowed: they must live as
 * long as the map. */
#ifndef BASE_MAP_H
#define BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct map_slot;
struct map {
    struct map_slot *slots;
    size_t n, cap; /* cap is 0 or a power of two */
};

/* Adds the key; false if it exists already (nothing changes then). */
bool map_add(struct map *m, const char *key, uint32_t value);
/* False if the key is absent. */
bool map_get(const struct map *m, const char *key, uint32_t *value);
void map_done(struct map *m);

#endif
