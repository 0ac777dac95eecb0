/* How long a job will take: the steps that are left, the time that they take on n units,
 * and how good such predictions were. */
#ifndef MODEL_ESTIMATE_H
#define MODEL_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"
#include "model/history.h"
#include "model/loss_fit.h"
#include "model/range.h"
#include "model/speed_fit.h"

/* When a job counts as done; 0 where the user did not say. */
struct steps_goal {
    double total;            /* steps declared; 0 = not */
    double target;           /* target value of the metric; NAN = none */
    double epoch;            /* steps of an epoch; 0 = a hundredth of the steps so far */
    enum metric_goal metric; /* which way is better */
};

enum steps_basis {
    STEPS_UNKNOWN,     /* nothing declared, and too few samples of the metric */
    STEPS_DECLARED,    /* what is left of the declared total */
    STEPS_TARGET,      /* until the metric reaches the target */
    STEPS_SETTLED,     /* until an epoch gains less than 0.1 % */
    STEPS_UNREACHABLE, /* the metric is not expected to reach the target */
};

struct steps_left {
    enum steps_basis basis;
    struct range steps; /* {0, inf, inf} when unknown; mid is inf when unreachable */
};

/* A total that is not positive and finite, or a target that is not finite, counts
 * as not given; so does the history when NULL. */
struct steps_left estimate_steps(const struct history *h, const struct steps_goal *goal);

/* Microseconds that the steps take on n units. {0, inf, inf} when that is unknown,
 * all infinite when n is not positive, unless no step is left. */
struct range estimate_time(const struct speed_fit *speed, const struct steps_left *left, units_t n);

/* A prediction as it was made; an end that could not be predicted is USEC_NEVER. */
struct estimate_record {
    usec_t at;
    usec_t low, end, high;
};

/* How good predictions were: errors relative to the time that was left when they were
 * made. */
struct estimate_score {
    uint32_t n;
    uint32_t inside; /* ends inside the band */
    double error;    /* mean absolute error: 0.2 = off by a fifth */
    double bias;     /* mean error: positive = predicted too late */
};

/* The prediction at `now` that `left` microseconds are left. */
struct estimate_record estimate_record_make(usec_t now, const struct range *left);

/* (predicted - actual) / (actual - at), bounded by ESTIMATE_ERROR_MAX in both directions,
 * so that one absurd prediction does not outweigh all others. NAN if nothing was predicted
 * or the job had ended before. */
#define ESTIMATE_ERROR_MAX 10.0
double estimate_record_error(const struct estimate_record *r, usec_t end);

/* Adds a prediction whose end is known; one whose error is NAN does not count. */
void estimate_score_add(struct estimate_score *score, const struct estimate_record *r, usec_t end);

#endif
