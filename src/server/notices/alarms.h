/* What nobody reports: jobs that make no progress any more, and jobs that will miss their
 * deadline. */
#ifndef SERVER_NOTICES_ALARMS_H
#define SERVER_NOTICES_ALARMS_H

#include "base/time.h"

struct live_job;
struct yard;

/* The job has made progress. */
void alarms_progress(struct yard *y, struct live_job *j);
/* A job has come, or its state or deadline has changed. */
void alarms_changed(struct yard *y);
/* Looks for such jobs, if it is time to, and adds the events job.stalled and job.at_risk, once
 * each. Returns the engine time of the next look. */
usec_t alarms_look(struct yard *y, usec_t now);

#endif
