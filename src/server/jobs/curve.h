/* The end of a job by the curve of its metric: when it reaches the value at which it is to be
 * stopped, or its target, or, for a job that is stopped then, does not improve any more
 * (model/loss_fit.h). For jobs that tell no total, and for those that are stopped before it. */
#ifndef SERVER_JOBS_CURVE_H
#define SERVER_JOBS_CURVE_H

#include "model/estimate.h"

struct live_job;
struct store;

struct metric_curve {
    struct history *history; /* of the metric; NULL = nothing reported */
    struct steps_left left;  /* from the step at which it was fitted */
    double fitted;           /* that step; 0 = not yet */
};

/* The job reports its metric at a step; NAN = it does not. */
void curve_report(struct live_job *j, usec_t at, double step, double metric);
/* The step at which it ends, as the curve tells it after this step. Returns false if unknown; a
 * job that has gone beyond the end is not known by it. */
bool curve_end(const struct live_job *j, double step, struct range *out);

/* The step from which on the metric is expected to stay as it is, which need not be the end.
 * Returns false if unknown. */
bool curve_flat(const struct live_job *j, double *step);

/* Reads the metric from the job's samples. */
int curve_load(struct store *s, struct live_job *j, struct err *err);
void curve_done(struct metric_curve *c);

#endif
