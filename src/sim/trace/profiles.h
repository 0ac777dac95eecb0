/* Profiles: measured speeds that the jobs of a trace refer to by model. They
 * come as one table, or as a directory with files per application. */
#ifndef SIM_TRACE_PROFILES_H
#define SIM_TRACE_PROFILES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/cluster.h"

enum profiles_kind {
    PROFILES_NONE,
    PROFILES_THROUGHPUTS, /* gpu_type,model,global_batch_size,num_gpus,iters_per_s */
    PROFILES_JOB_TYPES,   /* gpu_type,job_type,num_gpus,steps_per_s */
    PROFILES_SPEEDUPS,    /* model,gpus,speedup */
    PROFILES_RESTARTS,    /* model,gpus,restart_s */
    PROFILES_DIRECTORY,   /* APPLICATION/placements.csv and so on */
};

/* Steps a second on 1..n GPUs: at[k - 1]; 0 = does not run on k of them. */
struct rates {
    const double *at;
    uint32_t n;
};

enum { RATES_MAX = 4096 }; /* GPUs of one job in a table */

struct profiles_curve {
    VEC(double) at;
};

struct profiles {
    enum profiles_kind kind;
    char name[104];        /* for messages */
    const char *directory; /* borrowed; of PROFILES_DIRECTORY */
    struct arena arena;    /* of the texts */
    struct map index;      /* type, model and batch size to curve */
    VEC(struct profiles_curve) curves;
    VEC(const char *) types, models; /* as first spelt */
};

/* Reads a table whose kind is found by its header, or notes a directory. */
int profiles_open(const char *path, struct profiles *out, struct err *err);
/* A table in memory. */
int profiles_parse(const char *name, const char *text, size_t n, struct profiles *out,
                   struct err *err);
void profiles_done(struct profiles *p);

/* The columns, or the layout, of a kind. */
const char *profiles_layout(enum profiles_kind kind);

/* The rates of a model; n is 0 when the table has none. An empty type or batch
 * size is one that the kind does not have. */
int profiles_rates(const struct profiles *p, const char *type, const char *model, const char *batch,
                   struct arena *a, struct rates *out, struct err *err);

/* The table's name for the GPU type of each of the cluster's GPU pools, in
 * types[0..*n). Case does not matter. A cluster that does not name its type
 * takes a table of one type only. */
int profiles_match_types(const struct profiles *p, const struct cluster *c,
                         const char *types[POOLS_MAX - 1], unsigned *n, struct err *err);

/* The known model nearest to a name, or NULL. */
const char *profiles_nearest(const struct profiles *p, const char *model);

#endif
