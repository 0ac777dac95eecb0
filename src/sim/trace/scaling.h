/* From measured rates to what a job needs: its work and its speed curves. */
#ifndef SIM_TRACE_SCALING_H
#define SIM_TRACE_SCALING_H

#include "base/mem.h"
#include "model/job.h"
#include "sim/trace/profiles.h"

/* How one model at one batch size runs on the GPU types of a cluster. Speeds
 * are relative to one unit of the first type that runs it; when the smallest
 * size k there is not 1, S(k) = k. */
struct scaling {
    const struct speed *speeds;
    uint8_t nspeeds, pool;
    double unit_rate; /* steps a second at speed 1 */
    double steps;     /* of the whole job, where the profile knows it */
    uint32_t min;     /* smallest size that runs on every type */
    uint32_t best;    /* fastest size: from there on no larger one gains */
    uint32_t last;    /* largest size that runs */
};

/* rates[i] is for GPU pool POOL_GPU + i of n; with n = 1 it serves all pools.
 * A pool without rates does not run the model. Fails, with *err unset, when
 * none does, or when those that do have no size in common. */
int scaling_init(struct scaling *s, struct arena *a, const struct rates *rates, unsigned n);

/* The largest size not above n that runs on the job's first type; 0 = none. */
uint32_t scaling_floor(const struct scaling *s, uint32_t n);

/* Gives the job its curves, pool and the work of so many steps. */
void scaling_apply(const struct scaling *s, double steps, struct job *j);

#endif
