/* Dividing time: which share of the time each job should run on units of each pool. No pool has
 * more units in use than it has, and no job runs in two places at once:
 *
 *   sum over pools of x[job][pool] <= 1,   sum over jobs of units[job] x[job][pool] <= size[pool]
 *
 * Both are linear programs with one price per pool. They are solved by an interior-point method
 * (interior.c), so of equally good solutions the one in the middle is found. */
#ifndef POLICY_ALLOCATE_TIMESHARE_H
#define POLICY_ALLOCATE_TIMESHARE_H

#include <stdint.h>

#include "base/mem.h"

struct timeshare {
    uint32_t jobs;
    unsigned pools;
    const double *size;  /* by pool: units */
    const double *units; /* by job: how many it runs on */
    const double *rate;  /* [job x pools + pool]: what it gains there; 0 = it does not run there */
};

/* The largest level such that each job gains at least `need` times it; returns the level. Each
 * job runs in some pool, and needs are positive. x is [job x pools + pool]. */
double timeshare_fair(const struct timeshare *p, const double *need, struct arena *a, double *x);

/* The largest sum of all gains; returns it. */
double timeshare_sum(const struct timeshare *p, struct arena *a, double *x);

#endif
