/* The spelling of numbers in what the simulator writes: a decimal point
 * whatever the locale, the same text for the same value. */
#ifndef SIM_REPORT_FIGURE_H
#define SIM_REPORT_FIGURE_H

#include "base/str.h"
#include "base/time.h"

/* At most six decimals, none that are trailing zeros; "null" for a value that
 * is not finite. */
void figure_add(struct str *s, double value);

/* A whole number. */
void figure_add_int(struct str *s, int64_t value);

/* Microseconds as seconds, exactly, without trailing zeros. */
void figure_add_seconds(struct str *s, usec_t t);

/* "12,345.6" with the given number of decimals (0 to 3); "-" for a value that
 * is not finite. */
void figure_add_grouped(struct str *s, double value, unsigned decimals);

/* A member of a JSON object: ,"name":[...] or, when all values are the same,
 * ,"name":value. */
void figure_add_column(struct str *s, const char *name, const int64_t *values, size_t n);

#endif
