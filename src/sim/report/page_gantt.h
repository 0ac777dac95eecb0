/* The Gantt chart of the HTML report. */
#ifndef SIM_REPORT_PAGE_GANTT_H
#define SIM_REPORT_PAGE_GANTT_H

#include "base/str.h"
#include "sim/report/page_prepare.h"

/* The bars of the jobs in the Gantt chart, job by job. */
void report_add_segments(struct str *s, const struct report *p, const struct sim_result *r);

#endif
