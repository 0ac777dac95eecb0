/* The data of the HTML report. */
#ifndef SIM_REPORT_PAGE_DATA_H
#define SIM_REPORT_PAGE_DATA_H

#include "base/str.h"
#include "sim/report/page_prepare.h"

/* The whole data as one JSON object. */
void report_add_data(struct str *s, const struct report *p);

#endif
