/* How many parts a job has for its size: threads, or workers of a launcher. */
#ifndef SERVER_JOBS_PARTS_H
#define SERVER_JOBS_PARTS_H

#include "server/jobs/live.h"

struct yard;

int64_t parts_of(const struct live_job *j, const struct attempt *a);

/* After the CPUs of a node have been divided again: divides its threads among the jobs
 * that share them by weight, if there are any, and notifies jobs whose number changes. */
void parts_divide(struct yard *y, uint32_t node);

#endif
