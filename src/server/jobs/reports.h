/* Handles the reports of conductors while a job runs: progress, usage, applied sizes. */
#ifndef SERVER_JOBS_REPORTS_H
#define SERVER_JOBS_REPORTS_H

#include "server/yard.h"
#include "store/jobs.h"

/* After a restart: what its row has of the last report. */
void report_recall(struct live_job *j);
void report_progress(struct yard *y, struct attempt *a, const struct progress_message *m);
void report_usage(struct yard *y, struct attempt *a, const struct usage_message *m);
/* The policy has changed: one that measures jobs gets what is known of those that it has not heard
 * of, instead of waiting for their next reports. */
void report_samples(struct yard *y);
void report_applied(struct yard *y, struct attempt *a, const struct applied_message *m);
void report_restarted(struct yard *y, struct attempt *a, const struct restarted_message *m);

#endif
