/* Starts attempts. */
#ifndef SERVER_JOBS_LAUNCH_H
#define SERVER_JOBS_LAUNCH_H

#include "server/yard.h"

/* Begins the start operation of the attempt. */
void launch_begin(struct yard *y, struct attempt *a);
/* Call when it was started: its conductor knows the size that it was started with. */
void launch_done(struct attempt *a);
/* The time limit of the attempt: the rest of its job's limit; 0 = none. */
usec_t launch_time_limit(const struct live_job *j, const struct attempt *a);

#endif
