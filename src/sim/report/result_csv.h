/* The jobs of results as a CSV file. */
#ifndef SIM_REPORT_RESULT_CSV_H
#define SIM_REPORT_RESULT_CSV_H

#include <stdint.h>

#include "base/err.h"
#include "sim/result.h"

/* One line per job and policy. The file appears whole or not at all. */
int result_jobs_csv(const struct sim_result *r, uint32_t n, const char *path, struct err *err);

#endif
