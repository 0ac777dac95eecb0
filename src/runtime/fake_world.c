/* Owns lookups in the fake world and its random numbers. */
#include "runtime/fake_world.h"

#include <string.h>

usec_t fake_soon(struct fake *f, usec_t most)
{
    return f->now + (most > 0 ? (usec_t)rng_below(&f->rng, (uint64_t)most) : 0);
}

bool fake_chance(struct fake *f, double probability)
{
    return probability > 0 && rng_uniform(&f->rng) < probability;
}

bool fake_is_cut(const struct fake *f, uint32_t node)
{
    return f->nodes.at[node].cut_until > f->now;
}

uint32_t fake_find_node(const struct fake *f, const char *name)
{
    uint32_t i = 0;
    while (i < f->nodes.n && strcmp(f->nodes.at[i].name, name) != 0)
        i++;
    return i;
}

struct fake_attempt *fake_find_attempt(struct fake *f, struct attempt_id id)
{
    for (size_t i = f->attempts.n; i-- > 0;)
        if (attempt_id_same(f->attempts.at[i].id, id))
            return &f->attempts.at[i];
    return NULL;
}
