/* The log of a job: what it wrote to stdout and stderr, byte for byte.
 *
 * The current file is `log`. When it holds exactly `max` bytes it is renamed to log.1,
 * the next one to log.2, and so on; only the newest `keep` of these are kept. So byte i
 * of the log is in log.(i / max + 1), or in `log`, and an offset stays valid whatever
 * was removed.
 *
 * A full disk does not stop the job. What could not be written is dropped and counted;
 * once there is room, a line that begins with "[trainyard:" takes its place. */
#ifndef PROTOCOL_LOGFILE_H
#define PROTOCOL_LOGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct logfile {
    int dir, fd; /* dir is borrowed */
    int64_t max, keep;
    int64_t size;     /* of the current file */
    int64_t rotated;  /* files that were full */
    int64_t dropped;  /* bytes in all */
    int64_t unmarked; /* of these: no line in the log tells of them yet */
    int why;          /* errno of the last failure */
    bool in_line;     /* the last byte is not a newline */
};

int logfile_open(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err);
/* The same for one that has grown before: it goes on at its end. */
int logfile_resume(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err);
void logfile_done(struct logfile *l);

void logfile_write(struct logfile *l, const char *bytes, size_t n);
/* Adds bytes of a copy, or fails with what could not be added left out. */
int logfile_append(struct logfile *l, const char *bytes, size_t n, struct err *err);
/* What lies before this offset, a multiple of `max`, is not to be had any more: drops all
 * that is there and goes on at the offset. */
int logfile_skip(struct logfile *l, int64_t offset, struct err *err);
/* Adds a line "[trainyard: text]" of our own, at the beginning of a line. */
void logfile_note(struct logfile *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The job is over: the last chance to tell of what was dropped. */
void logfile_end(struct logfile *l);
/* Bytes written in all files, also those that were removed. */
int64_t logfile_bytes(const struct logfile *l);

#endif
