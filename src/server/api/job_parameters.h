/* The parameters of a job that is a member of a sweep. */
#ifndef SERVER_API_JOB_PARAMETERS_H
#define SERVER_API_JOB_PARAMETERS_H

#include <jansson.h>

#include "store/jobs.h"

/* Its parameters as an object of texts; NULL if it is not a member of a sweep. In `command`, a
 * list of words, their values take the place of {NAME}. */
json_t *job_parameters(const struct job_row *row, json_t *command);

#endif
