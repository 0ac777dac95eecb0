/* Earlier runs of a job's program: how many steps and how much work to expect. */
#ifndef SERVER_JOBS_PAST_H
#define SERVER_JOBS_PAST_H

#include "server/yard.h"

/* The name of the jobs that are like it: its category, or its user, program, model
 * and image. To be freed. */
char *past_category(const struct live_job *j);
/* Looks for an earlier run that the job can be compared with, and sets j->past. */
void past_find(struct yard *y, struct live_job *j);
/* Remembers a job that has succeeded in one go and did not end at once. */
void past_learn(struct yard *y, const struct live_job *j);

/* The work that it will take in all, going by the earlier run; NAN when nothing is known, or when
 * it has done more than that. */
double past_work(const struct live_job *j, double done);

#endif
