/* The JSON object of a job, from its row in the store and, until it has ended, from the live
 * job in memory. */
#ifndef SERVER_API_JOB_VIEW_H
#define SERVER_API_JOB_VIEW_H

#include <jansson.h>

#include "server/yard.h"
#include "store/job_state.h"
#include "store/jobs.h"

/* "held|queued|...": the states of a job, as choices. */
#define JOB_STATE_WORDS (&JOB_STATES(JOB_STATE_WORD)[1])
#define JOB_STATE_WORD(name, text, over) "|" text

/* The object in lists; `row` is from the store. */
json_t *job_view_brief(struct yard *y, const struct job_row *row);

/* The object with all details; the caller owns *out. `values`: with the values of the variables
 * that were submitted. */
int job_view_show(struct yard *y, int64_t id, bool values, json_t **out, struct err *err);

#endif
