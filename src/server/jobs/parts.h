/* How many parts a job has at its size: threads, or workers of a launcher. */
#ifndef SERVER_JOBS_PARTS_H
#define SERVER_JOBS_PARTS_H

#include "server/jobs/live.h"

struct yard;

int64_t parts_of(const struct live_job *j, const struct attempt *a);

/* Divides the threads of a node among the jobs that share its CPUs by weight, and notifies
 * jobs whose number changes. Call it when the engine has divided the CPUs again. */
void parts_divide(struct yard *y, uint32_t node);

#endif
