/* The samples of a history as a fit needs them: few, in the order of their steps, and
 * without outliers. */
#ifndef MODEL_LOSS_BINS_H
#define MODEL_LOSS_BINS_H

#include <stdint.h>

#include "model/history.h"

enum { LOSS_BINS = 32 };

struct loss_bins {
    uint32_t n;
    uint32_t distinct;        /* steps among the samples */
    double from, to;          /* first and last step */
    double step[LOSS_BINS];   /* mean of the bin */
    double metric[LOSS_BINS]; /* median of the bin */
    double count[LOSS_BINS];  /* samples in it */
};

/* Samples with a step outside 0..1e15, no metric, or one beyond 1e100 are left out. Up to
 * LOSS_BINS samples have a bin each; more are distributed evenly. */
void loss_bins_collect(const struct history *h, struct loss_bins *b);

/* Turns a metric that rises into one that falls. */
void loss_bins_negate(struct loss_bins *b);

/* How far the last third of the metric is above the first. */
double loss_bins_gain(const struct loss_bins *b);

/* The largest metric minus the smallest. */
double loss_bins_range(const struct loss_bins *b);

#endif
