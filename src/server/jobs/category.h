/* What finished jobs teach those of the same category: how they scale, and how far estimates can be
 * trusted. A category is the user's word for jobs that are alike (--category), or their user and
 * program. */
#ifndef SERVER_JOBS_CATEGORY_H
#define SERVER_JOBS_CATEGORY_H

#include "server/yard.h"

/* Sets the prior of the job's estimator from its category. */
void category_find(struct yard *y, struct live_job *j);
/* Remembers a job that has succeeded. */
void category_learn(struct yard *y, const struct live_job *j);

#endif
