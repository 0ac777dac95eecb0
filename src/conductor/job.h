/* The course of the job: its start, its output, the ends of its processes. */
#ifndef CONDUCTOR_JOB_H
#define CONDUCTOR_JOB_H

#include <stdbool.h>

#include "protocol/to_conductor.h"

struct conductor;

/* Starts the command; it may be over at once. What it writes is read at its end, or from
 * job_watch on. */
void job_start(struct conductor *c);
void job_watch(struct conductor *c);
/* Asks the job to end, for the reason given (not the one in `how`). */
void job_stop(struct conductor *c, const struct stop_message *how, const char *reason);
/* Reaps; the job may be over then. */
void job_reap(struct conductor *c);
/* The time of its life's next change has come. */
void job_tick(struct conductor *c);
/* Measures what it uses, and when to do so again. */
void job_sample(struct conductor *c);
/* Sends the progress report that is due. */
void job_report_progress(struct conductor *c, bool end);
/* Reads up to so many chunks of output; false at its end. */
bool job_read_output(struct conductor *c, unsigned chunks);

#endif
