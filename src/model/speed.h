/* A speed curve: how many times faster than on one unit a job trains on n
 * units. Units are counted in thousandths throughout (units_t), so that half a
 * CPU is 500 and one GPU is 1000. */
#ifndef MODEL_SPEED_H
#define MODEL_SPEED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"

typedef int64_t units_t;
#define UNITS_MAX INT64_C(1000000000) /* of a job: a million units */
#define UNIT 1000LL

/* A curve without a table is linear: S(n) = n. A table covers 1..len whole units; the curve
 * is flat after its end. Some sizes may not be admissible (a job may run on powers of two
 * only): there the table has the speed of the next lower admissible size. */
struct speed {
    const double *at;     /* at[k] = S(k), at[0] = 0 */
    const uint32_t *next; /* next[k] = smallest admissible size above k, 0 = none */
    uint32_t len;         /* largest size in the table */
    bool concave;         /* marginal gain per unit never grows */
};

/* Builds a table from speeds[k-1] for k = 1..n. A speed that is not a positive finite number
 * means that k is not admissible. At least one size must be. */
struct speed speed_table(struct arena *a, const double *speeds, uint32_t n);

/* step(n) = a + b/n + c(n-1), the estimator's form, tabulated for 1..n. */
struct speed speed_fitted(struct arena *a, double fixed, double parallel, double comm, uint32_t n);

/* The curve of a job that does not run on these units at all. */
struct speed speed_none(void);

/* Whether there is a size on which the job runs. */
static inline bool speed_runs(const struct speed *s)
{
    return !s->at || s->len > 0;
}

/* What is assumed of a job about which nothing is known: S(k) = k / (1 + 0.05 (k-1)). */
struct speed speed_prior(struct arena *a, uint32_t n);

/* S(n). Fractions are interpolated between admissible neighbours; below one
 * unit it is proportional. */
double speed_at(const struct speed *s, units_t n);
/* The same for a share of CPUs that is not a whole number of thousandths. */
double speed_at_share(const struct speed *s, double n);

/* The next admissible size above n, at most max: a whole number or max itself; 0 = none. */
units_t speed_next(const struct speed *s, units_t n, units_t max);

/* The largest admissible size up to n; 0 = none. */
units_t speed_floor(const struct speed *s, units_t n);

/* The smallest admissible size such that no larger one up to max is faster. */
units_t speed_best(const struct speed *s, units_t max);

#endif
