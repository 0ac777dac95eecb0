/* The JSON object of a result, for those that embed it. */
#ifndef SIM_REPORT_RESULT_JSON_H
#define SIM_REPORT_RESULT_JSON_H

#include "base/str.h"
#include "sim/result.h"

/* The object that result_json() prints. */
void result_add_json(struct str *s, const struct sim_result *r, bool timing);

#endif
