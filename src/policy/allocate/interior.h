/* The linear program of dividing time, solved by an interior-point method. timeshare.h has what it
 * means; this is its form with jobs that are alike counted together. */
#ifndef POLICY_ALLOCATE_INTERIOR_H
#define POLICY_ALLOCATE_INTERIOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

struct interior {
    uint32_t kinds, jobs; /* of jobs; of all kinds together */
    unsigned pools;
    bool fair;           /* the smallest gain is to be large, otherwise the sum of all */
    const double *size;  /* by pool: units, above 0 */
    const double *units; /* by kind: how many a job runs on */
    const double *count; /* by kind: jobs */
    const double *gain;  /* [kind x pools + pool]; 0 = it does not run there */
    double *x;           /* [kind x pools + pool]: shares, in and out */
};

/* Sets the shares of a job of each kind, and returns the objective. At first they are possible,
 * with something left of everything; of a fair problem every gain is then above 1. */
double interior_solve(const struct interior *p, struct arena *a);

#endif
