/* What is left of a job whose goodput changes from epoch to epoch: how long it takes on one
 * unit, and how much faster more units are for the rest. */
#ifndef MODEL_LEARNING_H
#define MODEL_LEARNING_H

#include "base/mem.h"
#include "model/goodput.h"
#include "model/speed.h"

struct learning {
    const struct goodput *goodput;
    double batch;               /* global batch size; 0 = the best at any time */
    const struct speed *speeds; /* [epoch]: of all that is left when it begins, on packed units */
    const double *rate;         /* [epoch]: progress per second on one unit */
    const double *left;         /* [0..epochs]: seconds on one unit from its beginning */
};

/* The batch of a job in this shape and epoch. */
struct goodput_batch learning_batch(const struct learning *l, const struct shape *shape,
                                    uint32_t epoch);

/* Tabulates sizes up to `most`. Returns false if it does not run on one unit. */
bool learning_init(struct learning *l, const struct goodput *g, double batch, uint32_t most,
                   struct arena *a);

/* Seconds on one unit from this progress, made in this epoch, to the end. */
double learning_left(const struct learning *l, uint32_t epoch, double progress);

#endif
