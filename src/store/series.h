/* What the series of a job have in common: numbers from 1, and thinning, so that each stays below
 * 2,000 rows. */
#ifndef STORE_SERIES_H
#define STORE_SERIES_H

#include <stdint.h>

#include "base/err.h"

struct store;

enum series { SERIES_SAMPLE, SERIES_GROWTH };

/* The number of the job's next row. */
int series_next(struct store *s, enum series of, int64_t job, int64_t *number, struct err *err);
/* Removes what is too much now that this row was added. */
int series_thin(struct store *s, enum series of, int64_t job, int64_t newest, struct err *err);

#endif
