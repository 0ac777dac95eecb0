/* What is left of a job whose goodput changes from epoch to epoch: how long it takes on one
 * unit, and how much faster more units, or those of another GPU type, are for the rest. */
#ifndef MODEL_LEARNING_H
#define MODEL_LEARNING_H

#include "base/mem.h"
#include "model/goodput.h"
#include "model/speed.h"

struct learning {
    /* By GPU type. Batch sizes, gradients and progress are the same on all of them. */
    const struct goodput *goodput;
    uint32_t types;
    double batch; /* global batch size; 0 = the best at any time */
    /* Of all that is left when an epoch begins, on packed units: see learning_speeds(). */
    const struct speed *speeds;
    uint8_t nspeeds;
    const double *rate; /* [epoch]: progress per second on one unit of the first type */
    const double *left; /* [0..epochs]: seconds on it from the beginning of the epoch */
};

/* The batch of a job in this shape and epoch on this GPU type. */
struct goodput_batch learning_batch(const struct learning *l, uint32_t type,
                                    const struct shape *shape, uint32_t epoch);

/* Tabulates sizes up to `most`; what goodput[type] does not run is not admissible there. Returns
 * false if it does not run on one unit of the first type. */
bool learning_init(struct learning *l, const struct goodput *goodput, uint32_t types, double batch,
                   uint32_t most, struct arena *a);

/* The curves of a job (job.speeds) for what is left when this epoch begins: one for all pools if
 * there is one type, otherwise none for CPUs and one for each type. */
static inline const struct speed *learning_speeds(const struct learning *l, uint32_t epoch)
{
    return &l->speeds[(size_t)epoch * l->nspeeds];
}

/* Seconds on one unit of the first type from this progress, made in this epoch, to the end. */
double learning_left(const struct learning *l, uint32_t epoch, double progress);

#endif
