/* The series of measurements of each job's growth efficiency. */
#ifndef STORE_GROWTHS_H
#define STORE_GROWTHS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

struct growth_row {
    usec_t at, span;                    /* when it was measured, and over how long */
    double cpu, memory, block, network; /* NAN = nothing used, or not known */
};

/* Keeps a thinned series of limited size per job, as store_sample_add() does. */
int store_growth_add(struct store *s, int64_t job, uint32_t attempt, const struct growth_row *row,
                     struct err *err);
/* Calls fn for the series, oldest first; the contract is that of other lists. */
typedef int (*store_growth_fn)(void *ctx, uint32_t attempt, const struct growth_row *row,
                               struct err *err);
int store_growth_list(struct store *s, int64_t job, store_growth_fn fn, void *ctx, struct err *err);

#endif
