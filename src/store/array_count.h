/* How many jobs of an array are in which state. */
#ifndef STORE_ARRAY_COUNT_H
#define STORE_ARRAY_COUNT_H

#include <stdint.h>

#include "base/err.h"
#include "store/job_state.h"

struct store;

struct array_count {
    int64_t in[JOB_STATE_COUNT]; /* by state */
    int64_t jobs;                /* in all */
    int64_t first, last;         /* indices */
    int64_t last_id;
};

/* `array` is the id of its first job. An array without jobs has all zeros. */
int store_array_count(struct store *s, int64_t array, struct array_count *out, struct err *err);

#endif
