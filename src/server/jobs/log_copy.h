/* The server's copy of logs that are written elsewhere. The copy is in the attempt's
 * directory, where other runtimes write the log itself, so readers see no difference. */
#ifndef SERVER_JOBS_LOG_COPY_H
#define SERVER_JOBS_LOG_COPY_H

#include "server/yard.h"

/* Requests the rest of the attempt's log from its runtime. */
void log_copy_ask(struct yard *y, struct attempt *a);
/* Appends bytes of a log to its copy: host->log() of the runtimes. */
void log_copy_take(struct runtime_host *h, struct attempt_id id, int64_t offset, const char *bytes,
                   size_t n);
/* Bytes that an attempt has logged so far, as far as they are known here. */
int64_t log_copy_bytes(const struct yard *y, int64_t job, uint32_t n);

#endif
