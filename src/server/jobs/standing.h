/* What the policies in force say about a job, in sentences, and when a policy moves it
 * from one of its lists to another. */
#ifndef SERVER_JOBS_STANDING_H
#define SERVER_JOBS_STANDING_H

#include "server/yard.h"

struct json_t;

/* A new array of sentences; empty when there is nothing to say. */
struct json_t *standing_list(struct yard *y, const struct live_job *j);

/* Adds the event that the policy of this axis has put the job into another list. */
void standing_tell_list(struct yard *y, const struct live_job *j, enum axis axis);

#endif
