/* Early stopping: jobs that have reached what they are for, have stopped improving, or are worse
 * than others of their group. Such a job is stopped like one that makes room, and is done. */
#ifndef SERVER_JOBS_EARLY_H
#define SERVER_JOBS_EARLY_H

#include "protocol/to_server.h"
#include "server/yard.h"

/* A report has changed the job's progress: stops it, or other jobs of its group, if the rules
 * of their requests say so. */
void early_report(struct yard *y, struct live_job *j, const struct progress_message *m);

/* The job has ended and leaves its group: members that waited for it to be compared with may be
 * stopped now. */
void early_leave(struct yard *y, const struct live_job *j);

/* Whether larger values of the job's metric are better. */
bool early_rises(const struct spec *s, const char *metric);

/* Restores what is remembered of the job's metric, from its samples. */
int early_recall(struct yard *y, struct live_job *j, struct err *err);

#endif
