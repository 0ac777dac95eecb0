/* The nodes over time, for the report. */
#ifndef SIM_REPORT_PAGE_NODES_H
#define SIM_REPORT_PAGE_NODES_H

#include "base/str.h"
#include "sim/report/page_prepare.h"

/* ,"by_node":[{...}],"moves":{...}: for each of the first REPORT_NODES_MOST nodes its jobs and its
 * use over time, and the jobs that moved. */
void report_add_nodes(struct str *s, const struct report *p, const struct sim_result *r);

#endif
