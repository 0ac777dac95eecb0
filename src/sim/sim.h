/* The simulator: a virtual clock that drives the engine through a trace. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "engine/engine.h"
#include "sim/power.h"
#include "sim/result.h"
#include "sim/rounds.h"
#include "sim/trace/trace.h"

struct sim_options {
    const struct trace *trace;
    const struct cluster *cluster;
    struct combo combo;
    enum rules rules;
    uint64_t seed;
    usec_t resched_min;
    usec_t min_run;               /* engine_config.min_run */
    usec_t mtbf;                  /* mean time between failures of a node; 0 = none */
    usec_t repair;                /* how long a failed node is away */
    struct rounds_options rounds; /* under RULES_POLLUX and RULES_SIA, for jobs with goodput */
    bool estimates;               /* policies see estimates of job sizes (sim/estimates.h) */
    double interference;          /* engine_config.interference */
    const struct power *power;    /* NULL = energy is not counted */
    bool record;                  /* keep segments and samples for a report */
    /* Called now and then with the share of jobs that are done; may be NULL. */
    void (*progress)(void *ctx, double share);
    /* Called after every step with what it did (engine->effects); may be NULL. */
    void (*observe)(void *ctx, const struct engine *e, usec_t now);
    void *ctx; /* of both */
};

/* Runs the whole trace. Fails only on a bug in a policy (ERR_INTERNAL); jobs
 * that can never run are in the result. */
int sim_run(const struct sim_options *o, struct sim_result *out, struct err *err);

#endif
