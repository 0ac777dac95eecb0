/* What conductors report while a job runs: progress, usage, sizes in force. */
#ifndef SERVER_JOBS_REPORTS_H
#define SERVER_JOBS_REPORTS_H

#include "server/yard.h"
#include "store/jobs.h"

struct json_t;

void report_progress(struct yard *y, struct attempt *a, const struct json_t *message);
void report_usage(struct yard *y, struct attempt *a, const struct json_t *message);
void report_applied(struct yard *y, struct attempt *a, const struct json_t *message);
void report_restarted(struct yard *y, struct attempt *a, const struct json_t *message);

/* Whether the job's work is reckoned from its steps; otherwise it is assumed. */
bool report_knows_work(const struct live_job *j);

/* Seconds that the job had left when it last told of its progress, at the size that it
 * has now; NAN when that cannot be told. */
double report_remaining(const struct yard *y, const struct live_job *j);

#endif
