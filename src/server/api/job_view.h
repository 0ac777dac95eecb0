/* A job as users see it: the JSON object of the API, from its row in the store and,
 * while it is not over, from what the yard knows. docs/api.md has the members. */
#ifndef SERVER_API_JOB_VIEW_H
#define SERVER_API_JOB_VIEW_H

#include <jansson.h>

#include "server/yard.h"
#include "store/jobs.h"

/* The job of a row that was read with its spec, as it stands in lists. */
json_t *job_view_brief(struct yard *y, const struct job_row *row);

/* All that is known of one job; the caller owns *out. */
int job_view_show(struct yard *y, int64_t id, json_t **out, struct err *err);

/* Members that may be unknown: null for NAN, 0 and "". */
json_t *job_view_number(double x);
json_t *job_view_time(usec_t t);
json_t *job_view_text(const char *text);

/* ---- of job_view_show(); in job_history.c ---------------------------------- */

/* Adds the job's dependencies, attempts and sizes. */
int job_history_add(struct yard *y, const struct job_row *row, json_t *job, struct err *err);

#endif
