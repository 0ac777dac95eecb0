/* Where a job's metric is going: forms fitted to the samples of its history, and the step at
 * which it reaches a target or stops improving. */
#ifndef MODEL_LOSS_FIT_H
#define MODEL_LOSS_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "model/history.h"
#include "model/loss.h"
#include "model/range.h"

enum metric_goal {
    METRIC_AUTO,  /* from its first value towards the target; without one, as it has moved */
    METRIC_FALLS, /* a loss */
    METRIC_RISES, /* an accuracy */
};

enum {
    LOSS_LEAST = 5, /* samples at distinct steps; fewer are not enough */
    LOSS_FORMS = 3, /* LOSS_INVERSE, LOSS_POWER, LOSS_DECAY */
    LOSS_GRID = 20, /* candidates of each form */
    LOSS_SHAPES = LOSS_FORMS * LOSS_GRID,
};

/* Predictions reach at most this many times the steps so far. */
#define LOSS_HORIZON 1000.0

/* A candidate: E(s) = level + drop v(s), v being its form scaled to 1 at the
 * first step and 0 at the last. */
struct loss_shape {
    enum loss_kind kind;
    double theta;       /* the parameter in which the form is not linear */
    double first, last; /* the unscaled form at the first and at the last step */
    double weight;      /* the probability that this is the right one */
    double level, drop;
    double level_variance, drop_variance, covariance;
};

struct loss_fit {
    bool rises;       /* everything below is then about the negated metric */
    double from, to;  /* first and last step with a metric */
    double freedom;   /* degrees of freedom */
    struct loss best; /* the candidate with the smallest residual */
    double residual;  /* its root mean square; outliers count less */
    struct loss_shape shapes[LOSS_SHAPES];
};

/* Fits the samples of the history; those without a finite metric or with a step outside
 * 0..1e15 do not count. `target` (NAN = none) is used by METRIC_AUTO only. False, with *fit
 * unchanged, if there are too few. */
bool loss_fit(const struct history *h, enum metric_goal goal, double target, struct loss_fit *fit);

/* The metric that the best candidate predicts at a step. */
double loss_fit_metric(const struct loss_fit *fit, double step);

/* The step, not before the last one seen, at which the metric reaches the target; infinite
 * beyond LOSS_HORIZON. */
struct range loss_fit_reaches(const struct loss_fit *fit, double target);

/* The same for the step from which on `epoch` > 0 more steps gain less than the part `gain`
 * of the metric, or of all that it has gained by then: relative to its own value, a loss
 * that tends to 0 would never settle. */
struct range loss_fit_settles(const struct loss_fit *fit, double epoch, double gain);

#endif
