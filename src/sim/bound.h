/* A lower bound on the mean completion time of a trace on a cluster: no schedule can do better,
 * whatever it knows. */
#ifndef SIM_BOUND_H
#define SIM_BOUND_H

#include "sim/trace/trace.h"

/* Seconds. The larger of two means: each job alone on the cluster at its fastest, and shortest
 * remaining time first on one machine that is as fast as all units together, each of which
 * does as much of a job as a unit does at the job's most efficient size. NAN if a job has no
 * size that runs. Costs of changes and jobs that must be on one node are left out. */
double bound_mean_jct(const struct trace *t, const struct cluster *c);

/* Seconds from the first submission to the last end, below which no schedule can be: each job alone
 * at its fastest, and the work of all that come from some moment on divided by all units. NAN if a
 * job cannot run. */
double bound_makespan(const struct trace *t, const struct cluster *c);

#endif
