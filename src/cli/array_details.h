/* An array of jobs as one thing: how many are in which state, and the jobs that matter most.
 * Pure. */
#ifndef CLI_ARRAY_DETAILS_H
#define CLI_ARRAY_DETAILS_H

#include <jansson.h>
#include <stdbool.h>

#include "base/str.h"
#include "cli/job_details.h"

/* Whether these are several jobs of one array. */
bool array_details_apply(const json_t *jobs);

/* Appends lines of text that is safe for a terminal. */
void array_details_add(const json_t *jobs, const struct job_details_look *look, struct str *out);

#endif
