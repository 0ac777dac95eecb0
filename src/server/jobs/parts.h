/* How many parts a job has for its size: threads, or workers of a launcher. */
#ifndef SERVER_JOBS_PARTS_H
#define SERVER_JOBS_PARTS_H

#include "server/jobs/live.h"

struct yard;

int64_t parts_of(const struct live_job *j, const struct attempt *a);

/* After shares have changed: divides the threads of each node among the jobs that share
 * its CPUs by weight, and has those told that get others. */
void parts_follow(struct yard *y);

#endif
