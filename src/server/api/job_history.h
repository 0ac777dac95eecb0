/* The history in a job's object. */
#ifndef SERVER_API_JOB_HISTORY_H
#define SERVER_API_JOB_HISTORY_H

#include <jansson.h>

#include "server/yard.h"

/* Lists the job's dependencies, its attempts and the changes of its size, oldest first. The
 * caller owns the lists. */
int job_history_read(struct yard *y, int64_t job, json_t **deps, json_t **attempts, json_t **sizes,
                     struct err *err);

#endif
