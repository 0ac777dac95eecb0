/* Owns the form in which the division of time is solved (interior.c). Pools that no job uses are
 * left out, and jobs that are alike become one kind: they run on as many units, and gain the same
 * in each pool. A cluster has hundreds of jobs of a few models, so this is what makes decisions
 * fast. */
#include "policy/allocate/timeshare.h"

#include <math.h>
#include <string.h>

#include "base/rng.h"
#include "model/job.h"
#include "policy/allocate/interior.h"

struct reduced {
    struct interior in;
    unsigned pool[POOLS_MAX];           /* that each pool of `in` is */
    double size[POOLS_MAX];             /* of it */
    double *units, *count, *gain, *row; /* row: of one job */
    uint32_t *kind;                     /* by job */
    uint32_t *table, slots;             /* 1 + kind, by hash */
};

/* Finds the pools that some job can use. */
static void pick_pools(const struct timeshare *p, struct reduced *r)
{
    unsigned n = 0;
    for (unsigned k = 0; k < p->pools; k++) {
        bool used = false;
        for (uint32_t i = 0; p->size[k] > 0 && !used && i < p->jobs; i++)
            used = p->rate[(size_t)i * p->pools + k] > 0;
        if (!used)
            continue;
        r->size[n] = p->size[k];
        r->pool[n++] = k;
    }
    r->in.pools = n;
}

/* The kind of the job whose gains are in `row`; a new one if no other job is like it. */
static uint32_t find_kind(struct reduced *r, double units)
{
    size_t bytes = r->in.pools * sizeof *r->row;
    uint64_t hash = 0, bits;
    memcpy(&bits, &units, sizeof bits);
    for (unsigned k = 0; k <= r->in.pools; k++) {
        hash = rng_mix(hash + bits);
        if (k < r->in.pools)
            memcpy(&bits, &r->row[k], sizeof bits);
    }
    uint32_t at = (uint32_t)hash & (r->slots - 1);
    for (; r->table[at]; at = (at + 1) & (r->slots - 1)) {
        uint32_t kind = r->table[at] - 1;
        if (r->units[kind] == units && !memcmp(r->gain + kind * r->in.pools, r->row, bytes))
            return kind;
    }
    memcpy(r->gain + (size_t)r->in.kinds * r->in.pools, r->row, bytes);
    r->units[r->in.kinds] = units;
    r->table[at] = ++r->in.kinds;
    return r->in.kinds - 1;
}

/* `need` is NULL for the sum of all gains. */
static void reduce(const struct timeshare *p, const double *need, struct arena *a,
                   struct reduced *r)
{
    *r = (struct reduced){.in = {.jobs = p->jobs, .fair = need != NULL}, .slots = 2};
    pick_pools(p, r);
    while (r->slots < 2 * p->jobs)
        r->slots *= 2;
    size_t shares = (size_t)p->jobs * r->in.pools;
    r->units = ARENA_ARRAY(a, p->jobs, double);
    r->count = ARENA_ARRAY(a, p->jobs, double);
    r->gain = ARENA_ARRAY(a, shares, double);
    r->row = ARENA_ARRAY(a, r->in.pools, double);
    r->kind = ARENA_ARRAY(a, p->jobs, uint32_t);
    r->table = ARENA_ARRAY(a, r->slots, uint32_t);
    r->in.x = ARENA_ARRAY(a, shares, double);
    for (uint32_t i = 0; i < p->jobs; i++) {
        for (unsigned k = 0; k < r->in.pools; k++)
            r->row[k] = p->rate[(size_t)i * p->pools + r->pool[k]] / (need ? need[i] : 1);
        r->kind[i] = find_kind(r, p->units[i]);
        r->count[r->kind[i]]++;
    }
    r->in.size = r->size;
    r->in.units = r->units;
    r->in.count = r->count;
    r->in.gain = r->gain;
}

static bool runs_in(const struct reduced *r, uint32_t kind, unsigned p)
{
    return r->gain[(size_t)kind * r->in.pools + p] > 0;
}

/* Shares in the middle of what is possible, half of it unused. */
static void begin_shares(struct reduced *r)
{
    double load[POOLS_MAX] = {0};
    unsigned n = r->in.pools;
    for (uint32_t i = 0; i < r->in.kinds; i++)
        for (unsigned p = 0; p < n; p++)
            load[p] += runs_in(r, i, p) ? r->count[i] * r->units[i] : 0;
    for (uint32_t i = 0; i < r->in.kinds; i++) {
        unsigned choices = 0;
        for (unsigned p = 0; p < n; p++)
            choices += runs_in(r, i, p);
        for (unsigned p = 0; p < n; p++)
            r->in.x[(size_t)i * n + p] =
                runs_in(r, i, p) ? 0.5 * fmin(1.0 / choices, r->size[p] / load[p]) : 0;
    }
}

/* The smallest gain of a job. */
static double least_gain(const struct reduced *r)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < r->in.kinds; i++) {
        double gain = 0;
        for (size_t c = (size_t)i * r->in.pools; c < (size_t)(i + 1) * r->in.pools; c++)
            gain += r->gain[c] * r->in.x[c];
        least = fmin(least, gain);
    }
    return least;
}

static double largest_gain(const struct reduced *r)
{
    double largest = 0;
    for (size_t c = 0; c < (size_t)r->in.kinds * r->in.pools; c++)
        largest = fmax(largest, r->gain[c]);
    return largest;
}

/* Solves it with gains in terms of `level`; sets the shares of all jobs. */
static double solve(const struct timeshare *p, struct reduced *r, double level, struct arena *a,
                    double *x)
{
    for (size_t c = 0; c < (size_t)r->in.kinds * r->in.pools; c++)
        r->gain[c] /= level;
    double objective = interior_solve(&r->in, a);
    memset(x, 0, (size_t)p->jobs * p->pools * sizeof *x);
    for (uint32_t i = 0; i < p->jobs; i++)
        for (unsigned k = 0; k < r->in.pools; k++)
            x[(size_t)i * p->pools + r->pool[k]] = r->in.x[(size_t)r->kind[i] * r->in.pools + k];
    return objective * level;
}

double timeshare_fair(const struct timeshare *p, const double *need, struct arena *a, double *x)
{
    struct reduced r;
    if (!p->jobs)
        return 0;
    reduce(p, need, a, &r);
    begin_shares(&r);
    return solve(p, &r, least_gain(&r) / 2, a, x);
}

double timeshare_sum(const struct timeshare *p, struct arena *a, double *x)
{
    struct reduced r;
    if (!p->jobs)
        return 0;
    reduce(p, NULL, a, &r);
    begin_shares(&r);
    return solve(p, &r, largest_gain(&r), a, x);
}
