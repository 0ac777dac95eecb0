/* Short texts about a job, from the API's object, for the cells of tables. The table makes them
 * safe for a terminal (screen_text.h). Pure. */
#ifndef CLI_JOB_TEXT_H
#define CLI_JOB_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "base/time.h"
#include "cli/colour.h"

enum { JOB_TEXT_SIZE = 64 };

/* All of these write into `buf`, which has JOB_TEXT_SIZE bytes, and return it. What is unknown
 * is "-". */

/* "running", "paused", "failed (3)". */
char *job_text_state(const json_t *job, char *buf);
enum colour job_text_state_colour(const json_t *job);
/* Appends "2 running, 98 queued": how many of an array are in each state. */
void job_text_add_counts(const json_t *states, struct str *out);
/* "1.5 of 1-2": what it holds of what it can use; "0 of 1-4" while it waits. */
char *job_text_cpus(const json_t *job, char *buf);
/* "████▌░░░░░  45%", with a bar of `bar` columns (0 = none). */
char *job_text_progress(const json_t *job, unsigned bar, char *buf);
/* "120 of 2000 steps, epoch 2 of 5". */
char *job_text_steps(const json_t *job, char *buf);
/* The loss, but no other metric. */
char *job_text_loss(const json_t *job, char *buf);
/* How long it ran, or while it waits, how long it has waited: "waits 3m12s". */
char *job_text_time(const json_t *job, usec_t now, char *buf);
/* Time until its expected end. */
char *job_text_eta(const json_t *job, usec_t now, char *buf);
/* The band of that time, which four ends in five fall into: "4m50s to 5m40s". */
char *job_text_band(const json_t *job, usec_t now, char *buf);

/* Whether it is over. */
bool job_text_over(const json_t *job);
/* The job's own exit code, or 128+N when signal N ended it; 0 only when it is done. */
bool job_text_failed(const json_t *job);
int job_text_exit(const json_t *job);

/* A time of the API (seconds since 1970) relative to `now`: "3m ago", "in 2h05m", "now". */
char *job_text_when(double at, usec_t now, char *buf);
/* A number of seconds: "4m07s". */
char *job_text_duration(double seconds, char *buf);
/* "1.5", "2": at most two decimals. */
char *job_text_units(double units, char *buf);
/* A rate: three digits that count, "0.0123", "4,450". */
char *job_text_rate(double rate, char *buf);
/* "512 MB", "3.9 GB". */
/* A time of day, "18:42"; within ten minutes with seconds, after half a day with the date. */
char *job_text_clock(double at, usec_t now, char *buf);
char *job_text_megabytes(double megabytes, char *buf);

/* Appends "train", or "train[3]" for a job of an array, safe for a terminal. */
void job_text_add_name(const json_t *job, struct str *out);
/* Appends the words, quoted where a shell would need it, so that they can be pasted. */
void job_text_add_command(const json_t *words, struct str *out);
/* Appends "lr=0.1 bs=32": the parameters of a member of a sweep. Not safe for a terminal. */
void job_text_add_parameters(const json_t *job, struct str *out);

/* Appends "Job 12 (train): running, 1.5 of 1-2 CPUs" and a line end, safe for a terminal; or
 * "running on 2 CPUs, resizing to 1" when it does not have its new size yet. */
void job_text_add_outcome(const json_t *job, struct str *out);

/* Appends a bar of `columns` columns, filled by this share. */
void job_text_bar(double share, unsigned columns, struct str *out);

#endif
