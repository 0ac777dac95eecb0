/* Owns the choice of CPUs.
 *
 * A whole CPU belongs to one job alone. The first one is taken from the smallest part of
 * the machine (core, L3, NUMA node, package) that has enough free CPUs: completely free
 * cores first, then the part with the least to spare. Each further CPU is the nearest to
 * those before it. So the hyper-threads of a core stay together from two CPUs on, and a
 * job of one CPU has a core to itself as long as there are free cores.
 *
 * Fractions of a CPU are packed: first next to other fractions where they fit, then on a
 * free CPU, then split over the room that is left.
 *
 * Ties are broken by index, so the same calls give the same CPUs. */
#include "runtime/local/cpus.h"

enum { NONE = UINT32_MAX };

/* One call of cpus_give. */
struct choice {
    struct cpus *c;
    uint32_t *had;         /* by CPU: units before the call */
    bool *whole;           /* by CPU: given whole; in the end, given at all */
    uint32_t n;            /* how many whole ones */
    uint32_t level, group; /* CPUs are taken from this part only; level NONE = from all */
};

void cpus_init(struct cpus *c, const struct topology *t)
{
    *c = (struct cpus){t, xcalloc(t->n, sizeof *c->load)};
}

void cpus_done(struct cpus *c)
{
    free(c->load);
    *c = (struct cpus){0};
}

void cpus_take(struct cpus *c, struct cpus_grant *g)
{
    for (size_t i = 0; i < g->share.n; i++)
        c->load[g->share.at[i].cpu] -= g->share.at[i].units;
    VEC_DONE(&g->share);
}

static void add_share(struct cpus *c, struct cpus_grant *g, uint32_t cpu, uint32_t units)
{
    c->load[cpu] += units;
    VEC_PUSH(&g->share, (struct cpus_share){cpu, units});
}

static bool is_free(const struct choice *o, uint32_t cpu)
{
    return o->c->load[cpu] == 0 && !o->whole[cpu];
}

/* How many CPUs of this one's core are free. */
static uint32_t free_threads(const struct choice *o, uint32_t cpu)
{
    const struct topology *t = o->c->topology;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n; i++)
        n += t->cpu[i].group[TOPOLOGY_CORE] == t->cpu[cpu].group[TOPOLOGY_CORE] && is_free(o, i);
    return n;
}

/* The sum of distances to what the job has: whole CPUs, or else what it had. */
static uint32_t remoteness(const struct choice *o, uint32_t cpu)
{
    const struct topology *t = o->c->topology;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++)
        if (o->n ? o->whole[i] : o->had[i] > 0)
            sum += topology_distance(t, i, cpu);
    return sum;
}

/* Counts by group of a level: free CPUs, and those of them in wholly free cores. */
static void count_free(const struct choice *o, unsigned level, uint32_t *all, uint32_t *in_cores)
{
    const struct topology *t = o->c->topology;
    uint32_t *used AUTO_FREE = xcalloc(t->n, sizeof *used);
    for (uint32_t i = 0; i < t->n; i++)
        used[t->cpu[i].group[TOPOLOGY_CORE]] += !is_free(o, i);
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t group = t->cpu[i].group[level];
        all[group] += is_free(o, i);
        in_cores[group] += used[t->cpu[i].group[TOPOLOGY_CORE]] == 0;
    }
}

/* The group that has at least n, as few as possible; NONE when there is none. */
static uint32_t tightest(const uint32_t *has, const uint32_t *spare, uint32_t groups, uint32_t n)
{
    uint32_t best = NONE;
    for (uint32_t i = 0; i < groups; i++)
        if (has[i] >= n && (best == NONE || spare[i] < spare[best]))
            best = i;
    return best;
}

/* Looks for the smallest part of the machine that can give n whole CPUs. One CPU is
 * near to itself anywhere: for it the levels begin above the core. */
static void choose_part(struct choice *o, uint32_t n)
{
    uint32_t groups = o->c->topology->n;
    for (unsigned level = n > 1 ? TOPOLOGY_CORE : TOPOLOGY_L3; level < TOPOLOGY_LEVELS; level++) {
        uint32_t *all AUTO_FREE = xcalloc(groups, sizeof *all);
        uint32_t *in_cores AUTO_FREE = xcalloc(groups, sizeof *in_cores);
        count_free(o, level, all, in_cores);
        uint32_t group = tightest(in_cores, all, groups, n);
        if (group == NONE)
            group = tightest(all, all, groups, n);
        if (group != NONE) {
            o->level = level;
            o->group = group;
            return;
        }
    }
}

/* The free CPU nearest to what the job has; NONE when there is none. */
static uint32_t next_whole(const struct choice *o)
{
    const struct topology *t = o->c->topology;
    uint32_t best = NONE, best_far = 0, best_threads = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_free(o, i) || (o->level != NONE && t->cpu[i].group[o->level] != o->group))
            continue;
        uint32_t far = remoteness(o, i), threads = free_threads(o, i);
        bool own = !o->n && o->had[i];
        if (own)
            return i;
        if (best == NONE || far < best_far || (far == best_far && threads > best_threads)) {
            best = i;
            best_far = far;
            best_threads = threads;
        }
    }
    return best;
}

/* The whole CPU that is farthest from the others. */
static uint32_t farthest_whole(const struct choice *o)
{
    uint32_t worst = NONE, worst_far = 0;
    for (uint32_t i = 0; i < o->c->topology->n; i++) {
        if (!o->whole[i])
            continue;
        uint32_t far = remoteness(o, i);
        if (worst == NONE || far >= worst_far) {
            worst = i;
            worst_far = far;
        }
    }
    return worst;
}

static void choose_whole(struct choice *o, uint32_t want, bool had_any)
{
    uint32_t cpu;
    for (uint32_t i = 0; i < o->c->topology->n; i++) {
        o->whole[i] = o->had[i] == UNIT && o->c->load[i] == 0;
        o->n += o->whole[i];
    }
    for (; o->n > want; o->n--)
        o->whole[farthest_whole(o)] = false;
    if (!had_any && want)
        choose_part(o, want);
    for (; o->n < want && (cpu = next_whole(o)) != NONE; o->n++)
        o->whole[cpu] = true;
}

/* How well a part of this size goes onto the CPU: smaller is better. The classes in
 * order: where it was, next to other parts, on a free CPU, wherever room is left. */
static uint64_t part_rank(const struct choice *o, uint32_t cpu, uint32_t part)
{
    uint32_t load = o->c->load[cpu], room = load < UNIT ? UNIT - load : 0;
    uint64_t class = room < part ? 3 : o->had[cpu] ? 0 : load ? 1 : 2;
    uint64_t detail = class == 3   ? load
                      : class == 2 ? remoteness(o, cpu) * 1000ULL + free_threads(o, cpu)
                                   : remoteness(o, cpu);
    return class << 56 | detail;
}

/* Whether the CPUs that the job does not have whole have this much room. */
static bool has_room(const struct choice *o, units_t want)
{
    for (uint32_t i = 0; i < o->c->topology->n; i++)
        if (!o->whole[i] && o->c->load[i] < UNIT)
            want -= UNIT - o->c->load[i];
    return want <= 0;
}

/* Puts a part somewhere where the job has nothing yet: all of it, or as much as there
 * is room for when it fits in pieces. Returns what was put. */
static uint32_t give_part(struct choice *o, struct cpus_grant *g, uint32_t part, bool fits)
{
    uint32_t best = NONE;
    uint64_t best_rank = 0;
    for (uint32_t i = 0; i < o->c->topology->n; i++) {
        uint64_t rank = part_rank(o, i, part);
        if (!o->whole[i] && (best == NONE || rank < best_rank)) {
            best = i;
            best_rank = rank;
        }
    }
    uint32_t load = o->c->load[best], room = load < UNIT ? UNIT - load : 0;
    uint32_t given = fits && room < part ? room : part;
    o->whole[best] = true;
    add_share(o->c, g, best, given);
    return given;
}

void cpus_give(struct cpus *c, struct cpus_grant *g, units_t want)
{
    uint32_t n = c->topology->n;
    uint32_t *had AUTO_FREE = xcalloc(n, sizeof *had);
    bool *whole AUTO_FREE = xcalloc(n, sizeof *whole);
    struct choice o = {c, had, whole, 0, NONE, NONE};
    bool had_any = g->share.n > 0;
    if (want > n * UNIT)
        want = n * UNIT;
    for (size_t i = 0; i < g->share.n; i++)
        had[g->share.at[i].cpu] = g->share.at[i].units;
    cpus_take(c, g);
    choose_whole(&o, (uint32_t)(want / UNIT), had_any);
    for (uint32_t i = 0; i < n; i++)
        if (whole[i])
            add_share(c, g, i, UNIT);
    units_t left = want - o.n * UNIT;
    bool fits = has_room(&o, left);
    while (left > 0)
        left -= give_part(&o, g, left < UNIT ? (uint32_t)left : UNIT, fits);
}

void cpus_claim(struct cpus *c, struct cpus_grant *g, const struct cpuset *set, units_t have)
{
    cpus_take(c, g);
    for (uint32_t i = 0; i < c->topology->n && have > 0; i++) {
        if (!cpuset_has(set, c->topology->cpu[i].os))
            continue;
        uint32_t units = have < UNIT ? (uint32_t)have : UNIT;
        add_share(c, g, i, units);
        have -= units;
    }
}

struct cpuset cpus_set(const struct cpus *c, const struct cpus_grant *g)
{
    struct cpuset set = {0};
    for (size_t i = 0; i < g->share.n; i++)
        cpuset_add(&set, c->topology->cpu[g->share.at[i].cpu].os);
    return set;
}

struct cpuset cpus_all(const struct cpus *c)
{
    struct cpuset set = {0};
    for (uint32_t i = 0; i < c->topology->n; i++)
        cpuset_add(&set, c->topology->cpu[i].os);
    return set;
}
