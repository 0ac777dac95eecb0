/* A result as a chart for a terminal. */
#ifndef SIM_REPORT_RESULT_GANTT_H
#define SIM_REPORT_RESULT_GANTT_H

#include <stdio.h>

#include "sim/result.h"

/* A chart for a terminal: one row per job, time from left to right, what each
 * held; needs segments. For traces that fit on a screen. */
void result_gantt(const struct sim_result *r, FILE *out);

#endif
