/* A job as users see it: the JSON object of the API, from its row in the store and, while it
 * is not over, from what the yard knows. */
#ifndef SERVER_API_JOB_VIEW_H
#define SERVER_API_JOB_VIEW_H

#include <jansson.h>

#include "server/yard.h"
#include "store/job_state.h"
#include "store/jobs.h"

/* "held|queued|...": the states of a job, as choices. */
#define JOB_STATE_WORDS (&JOB_STATES(JOB_STATE_WORD)[1])
#define JOB_STATE_WORD(name, text, over) "|" text

/* The job as lists show it, from its row in the store. */
json_t *job_view_brief(struct yard *y, const struct job_row *row);

/* All that is known about one job; the caller owns *out. */
int job_view_show(struct yard *y, int64_t id, json_t **out, struct err *err);

#endif
