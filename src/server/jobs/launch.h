/* What an attempt is started with. */
#ifndef SERVER_JOBS_LAUNCH_H
#define SERVER_JOBS_LAUNCH_H

#include "server/yard.h"

/* Begins the start of the attempt. */
void launch_begin(struct yard *y, struct attempt *a);
/* It has been started: its conductor knows what it was started with. */
void launch_done(struct attempt *a);
/* The time limit of the attempt: what its job has left of its own; 0 = none. */
usec_t launch_time_limit(const struct live_job *j, const struct attempt *a);

#endif
