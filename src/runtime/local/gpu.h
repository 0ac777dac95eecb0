/* The GPUs of this machine, as NVIDIA's management library knows them, and which of
 * them a job gets. */
#ifndef RUNTIME_LOCAL_GPU_H
#define RUNTIME_LOCAL_GPU_H

#include "base/mem.h"
#include "base/str.h"
#include "model/speed.h"

struct gpu {
    uint32_t index; /* in the library */
    char uuid[96], model[96];
    int64_t memory_mb;
    uint32_t load; /* thousandths given away */
};

struct gpus {
    VEC(struct gpu) gpu; /* all of one model */
    struct str left_out; /* a sentence on those of other models; empty = none */
};

struct gpus_share {
    uint32_t gpu, units;
};
struct gpus_grant {
    VEC(struct gpus_share) share;
};

/* Asks the library (NULL = libnvidia-ml.so.1). No library is no GPU; one that cannot be
 * initialised, as while its driver is being upgraded, or fails half-way is an error. A job's GPUs
 * are alike: of several models the one with the most GPUs is taken. */
int gpus_find(struct gpus *g, const char *library, struct err *err);
void gpus_done(struct gpus *g);

/* Changes the grant to `want` thousandths; keeps what it can. A part of a GPU goes
 * next to other parts. It always succeeds, by sharing if it must. */
void gpus_give(struct gpus *g, struct gpus_grant *grant, units_t want);
/* Adds a GPU that a job is known to have; gpus_give keeps it. */
void gpus_claim(struct gpus *g, struct gpus_grant *grant, const char *uuid);
void gpus_take(struct gpus *g, struct gpus_grant *grant);
/* Enters a grant of the old list in the new one, by UUID. What is not there is left out. */
void gpus_move(struct gpus_grant *grant, const struct gpus *old, struct gpus *new);

#endif
