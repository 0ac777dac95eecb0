/* Finish-time fairness (Mahajan et al., Themis, NSDI'20): how long a job takes, over how long
 * it would take with an equal share of the cluster. The number of jobs is the mean over the
 * time that it was there. */
#ifndef SIM_FAIRNESS_H
#define SIM_FAIRNESS_H

#include "model/cluster.h"
#include "model/job.h"

/* Counts how many jobs are in the system over time. */
struct presence {
    double sum; /* job-microseconds until `at` */
    usec_t at;
};

static inline void presence_advance(struct presence *p, uint32_t jobs, usec_t now)
{
    p->sum += (double)jobs * (double)(now - p->at);
    p->at = now;
}

/* The mean between two moments, at least 1. */
static inline double presence_mean(const struct presence *from, const struct presence *to)
{
    double mean = to->at > from->at ? (to->sum - from->sum) / (double)(to->at - from->at) : 1;
    return mean > 1 ? mean : 1;
}

/* Seconds that the job takes with an equal share among so many jobs. It has that share of each
 * GPU type that it can use, takes the largest size in it, and where its smallest is larger runs
 * for part of the time. */
double fairness_equal_share(const struct job *j, const struct cluster *c, double jobs);

#endif
