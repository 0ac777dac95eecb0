/* The job's own pattern: a regular expression of pcre2 with named groups. */
#ifndef PROGRESS_PATTERN_H
#define PROGRESS_PATTERN_H

#include "progress/sighting.h"

struct progress_pattern;

/* Whether a pattern can be used: compiles, is at most 1 KiB, and has a named
 * group that is a field: step, total, epoch, epochs, loss or rate. Any other
 * named group is a metric. The error names the offset. For the server, when a job
 * is submitted. */
int progress_pattern_check(const char *pattern, struct err *err);

/* Fails for a pattern that progress_pattern_check() refuses. */
int progress_pattern_create(const char *text, struct progress_pattern **out, struct err *err);
void progress_pattern_free(struct progress_pattern *p);

/* Whether the line matches and its groups hold numbers. */
bool progress_pattern_read(struct progress_pattern *p, const char *line, size_t n,
                           struct sighting *s);

/* It took too long on so many lines that it is not tried any more. */
bool progress_pattern_given_up(const struct progress_pattern *p);

#endif
