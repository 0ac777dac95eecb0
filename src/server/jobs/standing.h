/* What the active policies say about a job, in sentences. */
#ifndef SERVER_JOBS_STANDING_H
#define SERVER_JOBS_STANDING_H

#include "server/yard.h"

struct json_t;

/* A new array of sentences, which may be empty. */
struct json_t *standing_list(struct yard *y, const struct live_job *j);

/* Adds an event: the policy of this axis moved the job to another list. */
void standing_tell_list(struct yard *y, const struct live_job *j, enum axis axis);

#endif
