/* Owns the string map: open addressing with linear probing, at most 2/3 full. */
#include "base/map.h"

#include "base/mem.h"

struct map_slot {
    const char *key; /* NULL = empty */
    uint32_t value;
};

static size_t hash(const char *key)
{
    uint64_t h = 14695981039346656037ULL; /* FNV-1a */
    for (; *key; key++)
        h = (h ^ (unsigned char)*key) * 1099511628211ULL;
    return (size_t)(h ^ (h >> 32));
}

static struct map_slot *find(const struct map *m, const char *key)
{
    size_t i = hash(key) & (m->cap - 1);
    while (m->slots[i].key && strcmp(m->slots[i].key, key) != 0)
        i = (i + 1) & (m->cap - 1);
    return &m->slots[i];
}

static void grow(struct map *m)
{
    struct map old = *m;
    m->cap = old.cap ? old.cap * 2 : 16;
    m->slots = xcalloc(m->cap, sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].key)
            *find(m, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

bool map_add(struct map *m, const char *key, uint32_t value)
{
    if ((m->n + 1) * 3 > m->cap * 2)
        grow(m);
    struct map_slot *s = find(m, key);
    if (s->key)
        return false;
    *s = (struct map_slot){key, value};
    m->n++;
    return true;
}

bool map_get(const struct map *m, const char *key, uint32_t *value)
{
    if (!m->cap)
        return false;
    const struct map_slot *s = find(m, key);
    if (!s->key)
        return false;
    *value = s->value;
    return true;
}

void map_done(struct map *m)
{
    free(m->slots);
    *m = (struct map){0};
}
