/* Everything that a job reports by name, beside the metric by which it is judged. The number of
 * names and their length are bounded by struct field_numbers. */
#ifndef SERVER_JOBS_METRIC_LIST_H
#define SERVER_JOBS_METRIC_LIST_H

struct field_numbers;
struct live_job;

/* Keeps the newest values; nothing is kept of a job that reports none. */
void metric_list_take(struct live_job *j, const struct field_numbers *metrics);
/* The finite values and the loss as a JSON object, which the caller frees; NULL if the job has
 * reported nothing but its loss. */
char *metric_list_print(const struct live_job *j);

#endif
