/* The removal of what has been kept long enough. */
#ifndef STORE_TRIM_H
#define STORE_TRIM_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Deletes what is older than the limits: events and samples of jobs that were over
 * before `before`, events about no job from before it, and boots of the journal
 * that had ended before it. At most STORE_TRIM_STEP rows, so that a loop turn stays
 * short: call it again, turn by turn, until *removed is 0. A job that is done with
 * counts as a row. */
#define STORE_TRIM_STEP 5000
int store_trim(struct store *s, usec_t before, uint64_t *removed, struct err *err);

#endif
