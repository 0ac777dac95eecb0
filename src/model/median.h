/* The median of a few numbers, kept sorted. */
#ifndef MODEL_MEDIAN_H
#define MODEL_MEDIAN_H

#include <stdint.h>

/* Inserts x into n sorted numbers; there must be room for one more. */
static inline void median_insert(double *sorted, uint32_t n, double x)
{
    for (; n > 0 && sorted[n - 1] > x; n--)
        sorted[n] = sorted[n - 1];
    sorted[n] = x;
}

/* n > 0. */
static inline double median_of(const double *sorted, uint32_t n)
{
    return (sorted[(n - 1) / 2] + sorted[n / 2]) / 2;
}

#endif
