/* What a live server would know of the jobs of a trace: the policy sees estimates, and never the
 * true remaining work.
 *
 * A job that has not run yet is expected to take as long as earlier jobs of its group (its model,
 * in most traces), else as all earlier ones, else an hour on one unit; that may be off by a random
 * factor. A running job reports its
 * steps, whose times vary, and how many there are; the estimator of the live server
 * (model/speed_fit.h) makes of them what is left. Speed curves are given. */
#ifndef SIM_ESTIMATES_H
#define SIM_ESTIMATES_H

#include "engine/drive.h"
#include "sim/groups.h"

struct estimated_job;

struct estimates {
    bool on;
    uint64_t seed;              /* of the step times */
    struct estimated_job *jobs; /* by job id */
    double *work;               /* by task: what it really takes; for struct drive */
    uint32_t n;
    double size_error; /* of the expected work: standard deviation of its logarithm */
    struct groups groups;
};

/* Jobs have the ids 0..n-1. */
void estimates_init(struct estimates *e, bool on, uint64_t seed, double size_error, uint32_t n);
void estimates_done(struct estimates *e);

/* Tells the engine what is expected of a task that was just submitted. */
int estimates_submit(struct estimates *e, struct drive *d, uint32_t task, struct err *err);
/* The task ends: others of its group are expected to be like it. */
void estimates_end(struct estimates *e, const struct task *t);
/* Before a decision: running tasks have reported, and the engine is told what changed by more than
 * a twentieth. */
int estimates_look(struct estimates *e, struct drive *d, struct err *err);

#endif
