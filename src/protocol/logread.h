/* Reading the log of a job by offset, while it is written or afterwards. For the
 * server, and whoever shows logs. */
#ifndef PROTOCOL_LOGREAD_H
#define PROTOCOL_LOGREAD_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"

/* Reads up to n bytes from `offset` on; *got = 0 at the end of what there is. `dir`
 * is the attempt's directory, `max` its log_max_bytes. When the bytes at the
 * offset were removed already, *offset is moved to the oldest that is left. */
int logread(int dir, int64_t max, int64_t *offset, char *bytes, size_t n, size_t *got,
            struct err *err);

/* The offsets of the oldest byte that is left, and after the newest. Both 0 when
 * there is no log. */
int logread_span(int dir, int64_t max, int64_t *first, int64_t *end, struct err *err);

#endif
