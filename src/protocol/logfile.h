/* The log of a job: its stdout and stderr, byte for byte.
 *
 * The current file is `log`. When it holds exactly `max` bytes it is renamed to log.1, the next one
 * to log.2, and so on; only the newest `keep` of these are kept. So byte i of the log is in log.(i
 * / max + 1), or in `log`, and offsets stay valid when old files are removed.
 *
 * A full disk does not stop the job. Bytes that cannot be written are dropped and counted; once
 * there is room, a line that begins with "[trainyard:" takes their place. */
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
    int64_t dropped;  /* total number of bytes */
    int64_t unmarked; /* of these, bytes that no line in the log mentions yet */
    int why;          /* errno of the last failure */
    bool in_line;     /* the last byte is not a newline */
};

int logfile_open(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err);
/* Opens an existing log and continues at its end. */
int logfile_resume(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err);
void logfile_done(struct logfile *l);

void logfile_write(struct logfile *l, const char *bytes, size_t n);
/* Appends bytes of a copy. Fails if not all of them could be written. */
int logfile_append(struct logfile *l, const char *bytes, size_t n, struct err *err);
/* The log before this offset, a multiple of `max`, is no longer available: drops everything and
 * continues at the offset. */
int logfile_skip(struct logfile *l, int64_t offset, struct err *err);
/* Adds a line "[trainyard: text]" of our own. */
void logfile_note(struct logfile *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The job is over: reports dropped bytes if that was not possible before. */
void logfile_end(struct logfile *l);
/* Bytes written in total, including removed files. */
int64_t logfile_bytes(const struct logfile *l);

#endif
