/* Owns the drawing of clusters and jobs. Times lie on a coarse grid, so that many
 * things happen at the same instant. */
#include "support/chaos_world.h"

#include <math.h>
#include <stdio.h>

enum { GRID = 10 * USEC_PER_SEC };

int64_t chaos_between(struct rng *r, int64_t lo, int64_t hi)
{
    return lo + (int64_t)rng_below(r, (uint64_t)(hi - lo + 1));
}

bool chaos_maybe(struct rng *r, unsigned percent)
{
    return rng_below(r, 100) < percent;
}

enum { SHARING_KINDS = 6 };

static const char *name_of(struct arena *a, char kind, uint32_t i)
{
    char text[16];
    snprintf(text, sizeof text, "%c%u", kind, i);
    return arena_strdup(a, text);
}

void chaos_cluster(struct rng *r, struct arena *a, struct cluster *out)
{
    uint32_t types = (uint32_t)chaos_between(r, 0, 2);
    *out = (struct cluster){.n = (uint32_t)chaos_between(r, 1, 6),
                            .device_names = {"tpu", "fpga", "licence"}};
    out->nodes = ARENA_ARRAY(a, out->n, struct node);
    for (uint32_t i = 0; i < types; i++)
        out->gpu_types[i] = i ? "big" : "small";
    for (uint32_t i = 0; i < out->n; i++) {
        struct node *n = &out->nodes[i];
        n->name = name_of(a, 'n', i + 1);
        n->cpus = chaos_between(r, types ? 0 : 1, 12) * UNIT;
        n->gpu_pool = (uint8_t)(types ? POOL_GPU + chaos_between(r, 0, types - 1) : POOL_GPU);
        n->gpus = types ? chaos_between(r, 0, 8) * UNIT : 0;
        n->memory_mb = chaos_maybe(r, 50) ? chaos_between(r, 4, 32) : 0;
        n->devices.of[0] = (int32_t)chaos_between(r, 0, 4);
        n->devices.of[2] = (int32_t)chaos_between(r, 0, 2);
    }
}

/* A curve over `len` units: saturating, with bumps, or on powers of two only. */
static struct speed draw_speed(struct rng *r, struct arena *a, uint32_t len)
{
    double speeds[32], fixed = 0.3 * rng_uniform(r);
    int form = (int)chaos_between(r, 0, 2);
    for (uint32_t k = 1; k <= len; k++) {
        speeds[k - 1] = 1 / (fixed + (1 - fixed) / k);
        if (form == 1)
            speeds[k - 1] *= 0.8 + 0.4 * rng_uniform(r);
        if (form == 2 && (k & (k - 1)))
            speeds[k - 1] = NAN;
    }
    return speed_table(a, speeds, len);
}

static void draw_speeds(struct rng *r, struct arena *a, struct job *j)
{
    uint32_t len = (uint32_t)((j->max + UNIT - 1) / UNIT);
    j->nspeeds = j->pool == POOL_ANY_GPU && chaos_maybe(r, 50) ? POOL_GPU + 2 : 1;
    struct speed *s = ARENA_ARRAY(a, j->nspeeds, struct speed);
    for (unsigned i = 0; i < j->nspeeds; i++)
        s[i] = i < 2 ? draw_speed(r, a, len) : s[1];
    if (j->nspeeds > 2) { /* the second type runs on the same sizes, faster */
        double *faster = ARENA_ARRAY(a, len + 1, double);
        for (uint32_t k = 0; k <= len; k++)
            faster[k] = 1.5 * s[1].at[k];
        s[2].at = faster;
    }
    j->speeds = s;
    const struct speed *own = &s[j->nspeeds > 1 ? POOL_GPU : 0];
    units_t step = j->pool == POOL_CPU ? 1 : UNIT;
    j->req = speed_floor(own, j->req) > 0 ? speed_floor(own, j->req) : speed_next(own, 0, j->max);
    j->req = j->req >= step ? j->req : step;
    j->max = speed_floor(own, j->max) >= j->req ? speed_floor(own, j->max) : j->req;
    if (j->min > j->req || speed_floor(own, j->min) != j->min)
        j->min = j->req;
}

static void draw_size(struct rng *r, struct arena *a, struct job *j)
{
    units_t step = j->pool == POOL_CPU ? 250 : UNIT;
    int64_t most = j->pool == POOL_CPU ? 24 : 8;
    j->kind = (enum job_kind)chaos_between(r, 0, 2);
    j->min = chaos_between(r, 1, chaos_maybe(r, 70) ? 2 : most) * step;
    j->max = j->min + chaos_between(r, 0, most) * step;
    j->req = j->min + chaos_between(r, 0, (j->max - j->min) / step) * step;
    if (j->kind == JOB_RIGID)
        j->min = j->max = j->req;
    if (chaos_maybe(r, 50))
        draw_speeds(r, a, j);
    if (j->kind == JOB_RIGID)
        j->min = j->max = j->req;
}

/* The job becomes one of equal workers, of its smallest size or of the half of it. On CPUs they
 * have one each: with more, a share of their CPUs would have no speed. */
static void draw_workers(struct rng *r, struct arena *a, struct job *j)
{
    bool half = j->min % (2 * UNIT) == 0 && chaos_maybe(r, 50);
    double speeds[64];
    if (j->min % UNIT || j->nspeeds)
        return;
    j->worker = j->pool == POOL_CPU ? UNIT : half ? j->min / 2 : j->min;
    j->max -= j->max % j->worker;
    j->req -= j->req % j->worker;
    uint32_t len = (uint32_t)(j->max / UNIT);
    for (uint32_t k = 1; k <= len; k++)
        speeds[k - 1] = k % (j->worker / UNIT) ? NAN : k;
    struct speed *s = ARENA_NEW(a, struct speed);
    *s = speed_table(a, speeds, len);
    j->speeds = s;
    j->nspeeds = 1;
    j->apart = chaos_maybe(r, 30);
    j->nodes = chaos_maybe(r, 30) ? (uint32_t)chaos_between(r, 1, 3) : 0;
}

static usec_t draw_time(struct rng *r, int64_t most)
{
    return chaos_between(r, 1, most) * GRID;
}

static void draw_terms(struct rng *r, struct job *j)
{
    j->whole = chaos_maybe(r, j->pool == POOL_CPU ? 75 : 25);
    j->can_pause = chaos_maybe(r, 40);
    j->no_restart = j->can_pause && j->whole && j->pool == POOL_CPU && chaos_maybe(r, 60);
    j->no_preempt = chaos_maybe(r, 20) && !j->can_pause;
    j->cpus = j->pool != POOL_CPU && chaos_maybe(r, 30) ? chaos_between(r, 1, 4) * 500 : 0;
    j->memory_mb = chaos_maybe(r, 40) ? chaos_between(r, 1, 12) : 0;
    j->devices.of[0] = chaos_maybe(r, 20) ? (int32_t)chaos_between(r, 1, 3) : 0;
    j->devices.of[2] = chaos_maybe(r, 10) ? 1 : 0;
    j->priority = chaos_maybe(r, 20) ? (int32_t)chaos_between(r, -2, 2) : 0;
    j->weight = chaos_maybe(r, 30) ? 0.5 + 2 * rng_uniform(r) : 1;
    j->work = (double)draw_time(r, 60) * (j->pool == POOL_CPU ? 0.5 : 2);
    j->deadline = chaos_maybe(r, 40) ? j->submit + draw_time(r, 100) : USEC_NEVER;
    if (chaos_maybe(r, 40))
        j->cost = (struct job_cost){draw_time(r, 3), draw_time(r, 3), draw_time(r, 3),
                                    chaos_maybe(r, 50) ? draw_time(r, 10) : 0, 0};
    j->loss = (struct loss){LOSS_EXP, 2 + 10 * rng_uniform(r), 0, 0};
    j->target = chaos_maybe(r, 30) ? rng_uniform(r) : NAN;
}

/* How jobs share GPUs: by their stages, or by measured pairs. */
static const struct sharing *draw_sharing(struct rng *r, struct arena *a)
{
    struct sharing *kinds = ARENA_ARRAY(a, SHARING_KINDS, struct sharing);
    for (uint32_t i = 0; i < SHARING_KINDS; i++) {
        float *pairs = ARENA_ARRAY(a, (size_t)POOLS_MAX * SHARING_KINDS, float);
        for (size_t k = 0; k < (size_t)POOLS_MAX * SHARING_KINDS; k++)
            pairs[k] = chaos_maybe(r, 80) ? (float)(0.3 + 0.7 * rng_uniform(r)) : 0;
        kinds[i] = (struct sharing){.kind = i, .step = 1, .pairs = NULL, .kinds = SHARING_KINDS};
        for (int k = 0; k < SHARING_STAGES; k++)
            kinds[i].stage[k] = rng_uniform(r);
        if (i >= SHARING_KINDS / 2) {
            kinds[i].step = 0;
            kinds[i].pairs = pairs;
        }
    }
    return kinds;
}

/* Half of the jobs on GPUs may share them, and most of these need nothing else. */
static void set_sharing(struct rng *r, const struct sharing *kinds, struct job *j)
{
    if (j->pool == POOL_CPU || chaos_maybe(r, 50))
        return;
    j->sharing = &kinds[rng_below(r, SHARING_KINDS)];
    if (chaos_maybe(r, 20))
        return;
    j->cpus = 0;
    j->memory_mb = 0;
    j->devices = (struct devices){{0}};
    j->no_preempt = j->can_pause = j->no_restart = false;
}

struct job *chaos_jobs(struct rng *r, struct arena *a, const struct cluster *c, uint32_t n)
{
    struct job *jobs = ARENA_ARRAY(a, n, struct job);
    unsigned pools = cluster_pools(c);
    usec_t at = 0;
    struct rng own = *r; /* so that other terms do not depend on what is drawn here */
    const struct sharing *kinds = draw_sharing(&own, a);
    for (uint32_t i = 0; i < n; i++) {
        struct job *j = &jobs[i];
        struct err err;
        *j = (struct job){.id = i, .name = name_of(a, 'j', i), .submit = at};
        j->pool = (uint8_t)chaos_between(r, 0, pools); /* the last one: any GPU */
        if (j->pool == pools)
            j->pool = pools > POOL_GPU ? POOL_ANY_GPU : POOL_CPU;
        draw_size(r, a, j);
        draw_terms(r, j);
        if (!j->whole && chaos_maybe(&own, 50))
            draw_workers(&own, a, j);
        set_sharing(&own, kinds, j);
        if (job_normalise(j, &err) < 0) {
            fprintf(stderr, "chaos: job %u: %s\n", i, err.text);
            abort();
        }
        if (chaos_maybe(r, 60))
            at += draw_time(r, 6);
    }
    return jobs;
}
