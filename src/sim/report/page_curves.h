/* The curves of the HTML report. */
#ifndef SIM_REPORT_PAGE_CURVES_H
#define SIM_REPORT_PAGE_CURVES_H

#include "base/str.h"
#include "sim/report/page_prepare.h"

/* The share of jobs that have completed by a time: completion times in
 * increasing order, and their ranks unless every one is there. */
void report_add_cdf(struct str *s, const struct report *p, const struct sim_result *r);
/* "queue" and "used" over time: every sample, or lowest, highest and mean of
 * equal slices. */
void report_add_series(struct str *s, const struct report *p, const struct sim_result *r);

#endif
