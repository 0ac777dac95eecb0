/* Owns the map from numbers to pointers. */
#include "base/idmap.h"

#include "base/mem.h"
#include "base/rng.h"

/* The slot of the key, or the empty slot where it belongs. */
static size_t find(const struct idmap *m, uint64_t key)
{
    size_t at = rng_mix(key) & (m->cap - 1);
    while (m->slots[at].value && m->slots[at].key != key)
        at = (at + 1) & (m->cap - 1);
    return at;
}

void *idmap_get(const struct idmap *m, uint64_t key)
{
    return m->cap ? m->slots[find(m, key)].value : NULL;
}

static void grow(struct idmap *m)
{
    struct idmap old = *m;
    m->cap = old.cap ? old.cap * 2 : 64;
    m->slots = xcalloc(m->cap, sizeof *m->slots);
    for (size_t i = 0; i < old.cap; i++)
        if (old.slots[i].value)
            m->slots[find(m, old.slots[i].key)] = old.slots[i];
    free(old.slots);
}

void idmap_set(struct idmap *m, uint64_t key, void *value)
{
    if (m->n * 2 >= m->cap)
        grow(m);
    struct idmap_slot *slot = &m->slots[find(m, key)];
    m->n += !slot->value;
    *slot = (struct idmap_slot){key, value};
}

void idmap_remove(struct idmap *m, uint64_t key)
{
    size_t hole = m->cap ? find(m, key) : 0;
    if (!m->cap || !m->slots[hole].value)
        return;
    m->slots[hole].value = NULL;
    m->n--;
    /* Moves back the entries that were displaced past the hole. */
    for (size_t at = (hole + 1) & (m->cap - 1); m->slots[at].value; at = (at + 1) & (m->cap - 1)) {
        struct idmap_slot moved = m->slots[at];
        m->slots[at].value = NULL;
        m->slots[find(m, moved.key)] = moved;
    }
}

void idmap_done(struct idmap *m)
{
    free(m->slots);
    *m = (struct idmap){0};
}
