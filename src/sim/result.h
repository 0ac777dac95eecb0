/* What a simulation leaves: figures for the table and JSON, per-job rows, and
 * (when a report was asked for) time series and allocation segments.
 *
 * The simulator fills policy, jobs, job, utilization, allocated_used, decisions and the timing
 * figures, for a report also segments, samples and what concerns nodes, and then calls
 * result_summarise() for the rest. A figure that does not exist (a mean over
 * no jobs, a time that was not measured) is NAN. */
#ifndef SIM_RESULT_H
#define SIM_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/cluster.h"
#include "model/job.h"

enum sim_outcome {
    SIM_DONE,
    SIM_NEVER,      /* the cluster could not hold it if it were empty */
    SIM_UNFINISHED, /* not done when the simulation stopped */
};

/* Why a simulation stopped. */
enum sim_stop {
    STOP_DONE,     /* every job that can run has */
    STOP_STILL,    /* nothing more could happen */
    STOP_FAILURES, /* nodes failed too often for any job to end */
};

struct sim_job {
    const struct job *job;
    enum sim_outcome outcome;
    usec_t start, end; /* first start and end; USEC_NEVER = none */
    usec_t wait, run;  /* in all spells */
    double fair_s;     /* completion time with an equal share of the cluster; NAN = unknown */
    uint32_t starts, preemptions, moves, resizes, failures;
    double held_s;    /* unit-seconds that it held */
    double busy_s;    /* CPU-seconds that it kept busy */
    double energy_wh; /* only if the result has one */
};

/* An allocation that did not change: a bar of the Gantt chart. Those of one
 * job follow each other in time. */
struct sim_segment {
    uint32_t job, node; /* index of the job in its trace; the first node that it used */
    usec_t from, to;
    units_t n;   /* held */
    double used; /* of a CPU job, thousandths that it got of its node; else n */
};

/* State from `at` on, until the next sample. */
struct sim_sample {
    usec_t at;
    uint32_t running, waiting;
    double used; /* share of units held, 0..1 */
};

/* State of a node from `at` on, until its next sample. */
struct sim_node_sample {
    usec_t at;
    uint32_t node, jobs; /* jobs that hold units there */
    double cpu, gpu;     /* share of its CPUs that are busy and of its GPUs that are held, 0..1 */
};

/* A running job that went from one node to another. */
struct sim_move {
    usec_t at;
    uint32_t job, from, to; /* the first node of a job that has several */
    char list[16];          /* of the placer that it is in; "" = the placer has none */
};

/* A node over the whole simulation: means are over the makespan. */
struct sim_node {
    double cpu_used, gpu_used; /* NAN if it has none */
    double mean_jobs;
    uint32_t most_jobs, moves_in, moves_out;
};

struct sim_result {
    char policy[192];
    uint32_t jobs, finished, never, unfinished;
    char never_why[256]; /* what the first job that can never run lacks */
    enum sim_stop stop;
    double makespan_s; /* from the first submission to the last end */
    double mean_jct_s, median_jct_s, p95_jct_s, p99_jct_s, mean_wait_s; /* of finished jobs */
    uint32_t deadline_jobs, deadline_met;
    double worst_fairness;   /* largest ratio of a completion time to that with an equal share */
    double unfair;           /* share of finished jobs for which it is above 1.1 */
    double bound_jct_s;      /* no schedule has a smaller mean */
    double bound_makespan_s; /* nor a smaller makespan */
    double utilization;      /* unit-seconds held / (capacity x makespan) */
    double allocated_used;   /* of CPUs that jobs were granted, the share that they kept busy */
    double energy_wh;        /* of all jobs and nodes; NAN without a model of power */
    uint64_t starts, preemptions, migrations, resizes, failures, decisions;
    uint64_t choices; /* changes of the allocator by auto */
    double decision_p50_us, decision_p99_us, decision_max_us, wall_s;
    struct sim_job *job; /* one per job of the trace, in its order */
    VEC(struct sim_segment) segments;
    VEC(struct sim_sample) samples;
    struct sim_node *node; /* one per node of the cluster; NULL without a recording */
    uint32_t nodes;
    VEC(struct sim_node_sample) node_samples; /* in the order of time */
    VEC(struct sim_move) moves;
};

/* Fills the figures that follow from the per-job rows. Percentiles, the median
 * among them, are by nearest rank: always the time of some job. */
void result_summarise(struct sim_result *r);
/* Frees the rows and all that was recorded. */
void result_done(struct sim_result *r);

/* Completion time over that with an equal share; NAN if it has not finished. */
double result_fairness(const struct sim_job *j);
/* Whether the job had a deadline and ended by it. */
bool result_met(const struct sim_job *j);
/* "done", "never_runnable" or "unfinished". */
const char *result_outcome(enum sim_outcome outcome);
/* Completion times of the finished jobs, in increasing order; the caller frees
 * the array of r->finished. */
usec_t *result_completion_times(const struct sim_result *r);

#endif
