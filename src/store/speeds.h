/* How long a job's steps took at each size: the summary of a struct speed_size
 * (model/speed_fit.h). */
#ifndef STORE_SPEEDS_H
#define STORE_SPEEDS_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

struct speed_row {
    uint32_t size; /* whole units */
    double units, mean, squares, inside, weight;
    usec_t last;
};

/* Adds or replaces the size. ERR_NOT_FOUND when the job does not exist. */
int store_speed_save(struct store *s, int64_t job, const struct speed_row *row, struct err *err);
typedef int (*store_speed_fn)(void *ctx, const struct speed_row *row, struct err *err);
/* Lists those of one job, by size. */
int store_speed_list(struct store *s, int64_t job, store_speed_fn fn, void *ctx, struct err *err);

#endif
