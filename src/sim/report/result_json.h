/* A result as a JSON object. */
#ifndef SIM_REPORT_RESULT_JSON_H
#define SIM_REPORT_RESULT_JSON_H

#include <stdio.h>

#include "base/str.h"
#include "sim/result.h"

/* One JSON object on one line; without `timing` the fields that depend on the
 * machine are null. With `nodes`, the cluster of a recorded result, it also has the nodes. */
void result_json(const struct sim_result *r, bool timing, const struct cluster *nodes, FILE *out);
/* The same object without nodes, added to a text. */
void result_add_json(struct str *s, const struct sim_result *r, bool timing);

#endif
