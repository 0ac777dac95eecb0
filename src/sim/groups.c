/* Owns what is known of groups of jobs in a simulation. A trace has a few dozen groups at most, so
 * they are searched one by one. */
#include "sim/groups.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

struct group_known {
    const char *name;
    double logs; /* sum of logarithms of work */
    uint32_t ended;
    double going;             /* the most work that a job has done which has not ended */
    uint32_t most[POOLS_MAX]; /* units of each type on which a job has trained */
};

void groups_init(struct groups *g)
{
    *g = (struct groups){.at = xcalloc(1, sizeof *g->at), .n = 1, .cap = 1};
}

void groups_done(struct groups *g)
{
    free(g->at);
    *g = (struct groups){0};
}

static struct group_known *find_group(const struct groups *g, const char *name)
{
    for (uint32_t i = 1; name && i < g->n; i++)
        if (!strcmp(g->at[i].name, name))
            return &g->at[i];
    return NULL;
}

/* Adds the group if it is not there yet; NULL for a job without one. */
static struct group_known *open_group(struct groups *g, const char *name)
{
    struct group_known *found = find_group(g, name);
    if (found || !name)
        return found;
    if (g->n == g->cap) {
        g->at = xgrowarray(g->at, g->cap, 2 * g->cap, sizeof *g->at);
        g->cap *= 2;
    }
    g->at[g->n] = (struct group_known){.name = name};
    return &g->at[g->n++];
}

void groups_end(struct groups *g, const char *name, double work)
{
    struct group_known *own = open_group(g, name);
    for (int both = 0; both < 2; both++) {
        struct group_known *to = both ? own : &g->at[0];
        if (!to || !(work > 0))
            continue;
        to->logs += log(work);
        to->ended++;
    }
}

bool groups_is_known(const struct groups *g, const char *name)
{
    const struct group_known *own = find_group(g, name);
    return own && own->ended;
}

double groups_expect(const struct groups *g, const char *name, double otherwise)
{
    const struct group_known *own = find_group(g, name), *all = &g->at[0];
    if (own && own->ended)
        return exp(own->logs / own->ended);
    double size = all->ended ? exp(all->logs / all->ended) : otherwise;
    return own ? fmax(size, 2 * own->going) : size;
}

void groups_go_on(struct groups *g, const char *name, double done)
{
    struct group_known *own = open_group(g, name);
    if (own)
        own->going = fmax(own->going, done);
}

void groups_train(struct groups *g, const char *name, uint32_t type, uint32_t units)
{
    struct group_known *own = open_group(g, name);
    if (own && own->most[type] < units)
        own->most[type] = units;
}

uint32_t groups_most(const struct groups *g, const char *name, uint32_t type)
{
    const struct group_known *own = find_group(g, name);
    return own ? own->most[type] : 0;
}
