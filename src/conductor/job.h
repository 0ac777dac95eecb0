/* The course of the job: its start, its output, its processes. */
#ifndef CONDUCTOR_JOB_H
#define CONDUCTOR_JOB_H

#include <stdbool.h>

#include "protocol/to_conductor.h"

struct conductor;

/* Starts the command, which may end at once. Its output is read at its end, or from job_watch
 * on. */
void job_start(struct conductor *c);
void job_watch(struct conductor *c);
/* Asks the job to end, for the given reason (not the one in `how`). */
void job_stop(struct conductor *c, const struct stop_message *how, const char *reason);
/* Reaps children; this may end the job. */
void job_reap(struct conductor *c);
/* The next deadline of the rules has passed. */
void job_tick(struct conductor *c);
/* Samples the usage and schedules the next sample. */
void job_sample(struct conductor *c);
/* Sends a progress report if one is due. */
void job_report_progress(struct conductor *c, bool end);
/* Reads up to this many chunks of output; false at the end of the output. */
bool job_read_output(struct conductor *c, unsigned chunks);

#endif
