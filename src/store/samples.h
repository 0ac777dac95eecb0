/* The series of samples of each job. */
#ifndef STORE_SAMPLES_H
#define STORE_SAMPLES_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

struct sample_row {
    usec_t at;
    double step, metric, units, cpu_time, memory_mb, block_bytes, net_bytes;
    const char *metrics; /* JSON object of everything that it reports by name; NULL or "" = none */
};
/* Keeps a thinned series of limited size per job: fewer than 2,000 rows for a year of one sample
 * per second, spread evenly, with the newest more densely. */
int store_sample_add(struct store *s, int64_t job, uint32_t attempt, const struct sample_row *row,
                     struct err *err);
typedef int (*store_sample_fn)(void *ctx, uint32_t attempt, const struct sample_row *row,
                               struct err *err);
int store_sample_list(struct store *s, int64_t job, store_sample_fn fn, void *ctx, struct err *err);

#endif
