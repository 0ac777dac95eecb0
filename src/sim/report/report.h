/* The HTML report. */
#ifndef SIM_REPORT_REPORT_H
#define SIM_REPORT_REPORT_H

#include <stdint.h>

#include "base/err.h"
#include "sim/result.h"

/* One self-contained HTML file about results of the same trace. `trace` and
 * `nodes` are as the user spelt them. The file appears whole or not at all. */
int report_write(const struct sim_result *r, uint32_t n, const struct cluster *c, const char *trace,
                 const char *nodes, const char *path, struct err *err);

#endif
