/* Measured speeds of two jobs that share the same GPUs: a table with the columns
 * gpu_type,job_a,job_b,steps_per_s_a,steps_per_s_b. A job is written ('TYPE', GPUS), as Gavel does.
 */
#ifndef SIM_TRACE_PAIRS_H
#define SIM_TRACE_PAIRS_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/job.h"

/* A type of job on so many GPUs. */
struct pair_kind {
    const char *type; /* borrowed */
    uint32_t gpus;
    struct sharing *sharing;
    double alone[POOLS_MAX]; /* steps a second, by pool; 0 = it does not run there */
};

struct pair_rates {
    double a, b;
};

struct pairs {
    struct arena arena; /* of the keys */
    struct map index;   /* GPU type and two jobs to rows */
    VEC(struct pair_rates) rows;
    VEC(struct pair_kind) kinds; /* that the trace has */
};

int pairs_open(const char *path, struct pairs *out, struct err *err);
/* A table in memory. */
int pairs_parse(const char *name, const char *text, size_t n, struct pairs *out, struct err *err);
void pairs_done(struct pairs *p);

/* The kind of this type and size, which is added if it is new; its memory is from the arena. */
struct pair_kind *pairs_kind(struct pairs *p, const char *type, uint32_t gpus, struct arena *a);

/* Fills what the kinds know of each other. gpu_types[i] is that of pool POOL_GPU + i. */
void pairs_fill(struct pairs *p, const char *const *gpu_types, unsigned n, struct arena *a);

#endif
