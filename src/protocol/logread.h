/* Reads the log of a job by offset, while it is written or afterwards. */
#ifndef PROTOCOL_LOGREAD_H
#define PROTOCOL_LOGREAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Reads up to n bytes from `offset` on; *got = 0 at the current end. `dir` is the attempt's
 * directory, `max` its log_max_bytes. If the bytes at the offset were removed, *offset moves to
 * the oldest remaining byte. */
int logread(int dir, int64_t max, int64_t *offset, char *bytes, size_t n, size_t *got,
            struct err *err);

/* The offset of the oldest remaining byte, and the offset after the newest. Both are 0 if there
 * is no log. */
int logread_span(int dir, int64_t max, int64_t *first, int64_t *end, struct err *err);

#endif
