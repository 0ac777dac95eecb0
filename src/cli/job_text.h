/* How a job, as the API gives it, is shown to people: small texts for the cells of
 * tables. They are not safe for a terminal yet (screen_text.h): the table makes them
 * so. Pure. */
#ifndef CLI_JOB_TEXT_H
#define CLI_JOB_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/time.h"
#include "cli/colour.h"

enum { JOB_TEXT_SIZE = 64 };

/* All of these write into `buf`, which has JOB_TEXT_SIZE bytes, and return it. What
 * is not known is "-". */

/* "running", "paused", "failed (3)". */
char *job_text_state(const json_t *job, char *buf);
enum colour job_text_state_colour(const json_t *job);
/* "1.5 of 1-2": what it has of what it can use; "0 of 1-4" while it waits. */
char *job_text_cpus(const json_t *job, char *buf);
/* "████▌░░░░░  45%", with a bar of `bar` columns (0 = none). */
char *job_text_progress(const json_t *job, unsigned bar, char *buf);
/* "120 of 2000 steps, epoch 2 of 5". */
char *job_text_steps(const json_t *job, char *buf);
/* The loss; another metric is none. */
char *job_text_loss(const json_t *job, char *buf);
/* Time that it ran; while it waits, the time that it has waited: "waits 3m12s". */
char *job_text_time(const json_t *job, usec_t now, char *buf);
/* Time that is left. */
char *job_text_eta(const json_t *job, usec_t now, char *buf);

/* It will change no more. */
bool job_text_over(const json_t *job);
/* The job's own exit code; 128+N when signal N ended it; never 0 unless it is done. */
int job_text_exit(const json_t *job);

/* A time of the API (seconds since 1970) beside `now`: "3m ago", "in 2h05m", "now". */
char *job_text_when(double at, usec_t now, char *buf);
/* A number of seconds: "4m07s". */
char *job_text_duration(double seconds, char *buf);
/* "1.5", "2": at most two digits behind the point. */
char *job_text_units(double units, char *buf);
/* "512 MB", "3.9 GB". */
char *job_text_megabytes(double megabytes, char *buf);

/* Appends "Job 12 (train): running, 1.5 of 1-2 CPUs" and a line end, safe for a
 * terminal; "running on 2 CPUs, to be 1" when it has a size that it shall leave. */
void job_text_add_outcome(const json_t *job, struct str *out);

/* Appends `columns` columns that are filled by this share. */
void job_text_bar(double share, unsigned columns, struct str *out);

#endif
