/* Jobs as the rows of a table. Pure. */
#ifndef CLI_JOB_GRID_H
#define CLI_JOB_GRID_H

#include <jansson.h>
#include <stdbool.h>

#include "base/time.h"
#include "cli/grid.h"

struct job_grid_look {
    usec_t now;
    unsigned bar; /* width of progress bars; 0 = none */
    bool wide;    /* with all columns */
};

/* Makes a table from an array of jobs; the caller calls grid_done(). */
void job_grid_fill(const json_t *jobs, const struct job_grid_look *look, struct grid *out);

#endif
