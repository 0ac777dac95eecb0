/* Time is int64_t microseconds and is always passed in. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef int64_t usec_t;

#define USEC_PER_SEC 1000000LL
#define USEC_NEVER INT64_MAX
/* Limit for traces, deadlines and costs (about 290 years), so that sums of a few times never
 * overflow. */
#define USEC_LIMIT (INT64_MAX / 1000)

/* "90", "90s", "1.5h", "2d4h30m": a plain number is seconds. */
int time_parse(const char *text, usec_t *out, struct err *err);

/* Seconds as a double to microseconds, rounded; -1 when out of range. */
int time_from_seconds(double seconds, usec_t *out);

static inline double time_seconds(usec_t t)
{
    return (double)t / (double)USEC_PER_SEC;
}

/* "417ms", "12.3s", "4m07s", "3h05m", "2d04h", "never"; returns buf. */
char *time_format(usec_t t, char *buf, size_t size);

#endif
