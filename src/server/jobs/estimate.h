/* What is expected of a job: how fast it steps on each size that it was seen on, and when
 * it ends. Its reports are the only source; model/estimate.h does the arithmetic. */
#ifndef SERVER_JOBS_ESTIMATE_H
#define SERVER_JOBS_ESTIMATE_H

#include "model/estimate.h"

struct attempt;
struct live_job;
struct store;
struct yard;

struct job_estimate {
    struct speed_seen *seen; /* step times by size; NULL = it has not made a step yet */
    struct speed_fit fit;    /* of these; fit.sizes 0 = nothing is known */
    uint32_t told;           /* sizes that the engine's curve was made of; 0 = it has none */
    double told_best;        /* its speed-up at the job's largest size */
    /* The report that the next one is measured against. */
    usec_t at; /* wall clock; 0 = there is none since its size or its pace changed */
    double step;
    struct range left; /* microseconds that were left then, on the size that it has */
};

/* The job reports this step. */
void estimate_report(struct yard *y, struct live_job *j, usec_t at, double step);
/* What it does next cannot be compared with before: it starts, stands still or has
 * another size. */
void estimate_break(struct live_job *j);

/* Seconds that it has left, as of its last report, on the size that it has; false when
 * nobody can tell. */
bool estimate_left(const struct live_job *j, struct range *out);
/* Whether its work follows from its own steps; otherwise it is assumed. */
bool estimate_knows_work(const struct live_job *j);
/* The work that it has in all, as the engine counts, given what it has done. */
double estimate_work(const struct yard *y, const struct live_job *j, double done);

/* Keeps what was seen; reads it again. */
int estimate_save(struct store *s, const struct live_job *j, struct err *err);
int estimate_load(struct store *s, struct live_job *j, struct err *err);
void estimate_done(struct job_estimate *e);

#endif
