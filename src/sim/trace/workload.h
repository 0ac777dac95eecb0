/* The parameters of the workload generator, as spelt in
 * "poisson:jobs=1000,load=0.9,sizes=1/2/4:0.7/0.2/0.1". */
#ifndef SIM_TRACE_WORKLOAD_H
#define SIM_TRACE_WORKLOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/job.h"

enum { WORKLOAD_CHOICES = 16 };

/* What is drawn, and with which share; the shares sum to 1. */
struct workload_mix {
    units_t size[WORKLOAD_CHOICES]; /* or the index of a model */
    double share[WORKLOAD_CHOICES];
    uint32_t n;
};

struct workload {
    bool bursty;
    int64_t jobs;
    double load;  /* offered unit-seconds / capacity */
    usec_t mean;  /* of the run time on the size asked for */
    double sigma; /* of its logarithm */
    struct workload_mix sizes;
    bool own_sizes;             /* given, not the default ones */
    struct workload_mix models; /* none: linear speed */
    enum job_kind kind;
    bool cpu;
    units_t min, max; /* 0 = one unit, and the largest size */
    double deadlines; /* share of jobs that have one */
    double slack[2];  /* deadline in run times, drawn evenly between these */
    bool draw_loss;   /* an exponential curve, drawn per job */
    struct loss loss; /* the same for all otherwise */
    double burst;     /* arrival rate in a burst against that between bursts */
    double busy;      /* share of the time that is in bursts */
    usec_t spell;     /* mean length of a burst; 0 = ten mean gaps between jobs */
};

/* A model whose speed was measured on 1..4 GPUs; behind that it follows
 * step(n) = fixed + parallel / n, fitted to the four. */
struct workload_model {
    const char *name;
    double speed[4];
    double fixed, parallel;
};

extern const struct workload_model workload_models[]; /* ends with a NULL name */

/* Defaults where the text says nothing. Unknown keys get the nearest one in
 * the error. */
int workload_parse(const char *spec, struct workload *out, struct err *err);

#endif
