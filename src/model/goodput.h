/* Goodput: how fast an application learns. Its step time depends on where its replicas are
 * and on the local batch size; how much a step brings depends on the global batch size and
 * on the gradient noise, which changes from epoch to epoch. Both were measured, and goodput
 * is progress per second (Qiao et al., Pollux, OSDI'21, section 3).
 *
 * Progress is counted in steps of the smallest batch size. */
#ifndef MODEL_GOODPUT_H
#define MODEL_GOODPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/placement.h"

/* Replicas on nodes. */
struct shape {
    uint32_t nodes, replicas;
    /* Replicas on each node, a hexadecimal digit each, from the rotation that makes the
     * number smallest; 0 if there are more nodes or replicas on one than digits have room for. */
    uint64_t key;
};

struct shape shape_of(const struct placement *p);
/* As few nodes as possible, of so many units each. */
struct shape shape_packed(uint32_t replicas, uint32_t per_node);

struct goodput_point {
    double local, step, sync; /* samples per replica; seconds, sync is part of step */
};

/* The measured step times of one shape. */
struct goodput_curve {
    struct shape shape;
    const struct goodput_point *points; /* by local batch size */
    uint32_t n;
};

struct goodput {
    const struct goodput_curve *shapes; /* by key */
    const struct goodput_curve *means;  /* of all with as many nodes and replicas, in that order */
    uint32_t nshapes, nmeans;
    uint32_t per_node;             /* units of a node in the measurement */
    uint32_t min_local, max_local; /* samples per replica and pass */
    uint32_t largest;              /* most replicas that were measured */
    /* The largest local batch is that of the shape itself, not of all (Sia's simulator). */
    bool limited_by_shape;
    double pace; /* of the measured speed, the part that jobs reach */
    /* Of each batch size and epoch: the squared norm and the variance of the gradient. */
    uint32_t nbatches, epochs;
    const double *batches;   /* global, increasing; the first is the initial one */
    const double *sqr, *var; /* [batch x epochs + epoch] */
    const double *progress;  /* [0..epochs]: when an epoch begins; the last is the end */
};

/* What each replica does between two updates of the model: `passes` of `local` samples. */
struct goodput_batch {
    uint32_t local, passes;
};

static inline double goodput_initial(const struct goodput *g)
{
    return g->batches[0];
}

static inline double goodput_largest(const struct goodput *g)
{
    return g->batches[g->nbatches - 1];
}

/* How replicas divide a global batch: in as few passes as possible. A single replica makes at
 * least two if the batch is larger than the initial one, because the noise of the gradient
 * cannot be measured in one. */
struct goodput_batch goodput_divide(const struct goodput *g, const struct shape *shape,
                                    double global);

/* Seconds from one update to the next; NAN if it does not run so. */
double goodput_step_time(const struct goodput *g, const struct shape *shape,
                         struct goodput_batch b);

/* How much an update brings, in updates at the initial batch size. */
double goodput_gain(const struct goodput *g, uint32_t epoch, double global);

/* Progress per second; 0 if it does not run so. */
double goodput_rate(const struct goodput *g, const struct shape *shape, uint32_t epoch,
                    struct goodput_batch b);

/* A batch that may be the best, which depends on the epoch, and its step time, which does not. */
struct goodput_candidate {
    struct goodput_batch batch;
    double global, time;
};
enum { GOODPUT_CANDIDATES = 50 };

/* 50 global batch sizes from the initial to the largest one in equal ratios, without those
 * that do not run. Returns how many there are. */
uint32_t goodput_candidates(const struct goodput *g, const struct shape *shape,
                            struct goodput_candidate out[GOODPUT_CANDIDATES]);

/* The index of the candidate with the largest rate, which is in *rate; it is 0 if there is
 * none. */
uint32_t goodput_choose(const struct goodput *g, uint32_t epoch, const struct goodput_candidate *c,
                        uint32_t n, double *rate);

/* The best of all; passes is 0 if none runs. */
struct goodput_batch goodput_best(const struct goodput *g, const struct shape *shape,
                                  uint32_t epoch);

#endif
