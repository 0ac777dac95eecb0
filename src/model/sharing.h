/* How fast jobs are that share the same units: all of them run on all of these units at once.
 *
 * Two things may be known. Stages: what a step takes of each resource, so that the stages of
 * different jobs can be interleaved (Muri, SIGCOMM'22). Pairs: speeds that were measured for two
 * jobs on the same units (Gavel, OSDI'20). */
#ifndef MODEL_SHARING_H
#define MODEL_SHARING_H

#include <stdbool.h>
#include <stdint.h>

enum { SHARING_MOST = 4, SHARING_STAGES = 3 };

struct sharing {
    uint32_t kind; /* jobs of the same kind have the same values */
    /* What a step takes alone, and of each resource: storage, CPU, GPU. 0 = not known. */
    double step;
    double stage[SHARING_STAGES];
    /* [pool * kinds + kind of the other job]: its speed next to the other one, as a share of its
     * speed alone; 0 = they cannot run together. NULL = not measured. */
    const float *pairs;
    uint32_t kinds;
};

/* How long a round takes in which each of 2 to SHARING_MOST jobs makes one step, if their stages
 * are interleaved in the best order. */
double sharing_cycle(const struct sharing *const *jobs, unsigned n);

/* The speed of each of n jobs that share units of the pool, as a share of its speed alone. False if
 * it is not known or they cannot run together. A job alone runs at full speed. */
bool sharing_rates(const struct sharing *const *jobs, unsigned n, unsigned pool, double *rates);

#endif
