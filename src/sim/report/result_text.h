/* Results as a table for a terminal. */
#ifndef SIM_REPORT_RESULT_TEXT_H
#define SIM_REPORT_RESULT_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "sim/result.h"

/* A table with one row per result, 120 columns wide at most; the best of each
 * column is marked. Below it, the jobs that never ran or never finished. */
void result_table(const struct sim_result *r, uint32_t n, bool colour, FILE *out);
/* A job's name, which comes from a file, with question marks for what would steer a
 * terminal, and `most` characters of it. Returns how many that were. */
uint32_t result_print_name(const char *name, uint32_t most, FILE *out);

#endif
