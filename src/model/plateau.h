/* Whether a metric has stopped improving: the rule of `--stop-when-flat 5%/10min`. */
#ifndef MODEL_PLATEAU_H
#define MODEL_PLATEAU_H

#include <stdbool.h>

#include "base/time.h"

/* A metric is flat when it has improved by less than `part` within the window. */
struct flatness {
    double part;  /* of its value at the beginning of the window; 0 = no rule */
    usec_t time;  /* length of the window; 0 = it is in steps */
    double steps; /* the same in steps */
};

/* What is remembered of a series: the value that must be improved upon, and since when. */
struct plateau {
    bool begun;
    double value, step;
    usec_t at;
};

/* Adds a value; returns whether the series is flat. `rises`: larger values are better. Values
 * that are not finite count as no improvement. */
bool plateau_add(struct plateau *p, const struct flatness *rule, bool rises, usec_t at, double step,
                 double value);
/* The job was interrupted: the window begins again with the next value. What must be improved
 * upon stays. */
void plateau_break(struct plateau *p);

#endif
