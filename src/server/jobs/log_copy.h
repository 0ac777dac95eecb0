/* The server's copy of logs that are written elsewhere. It is where a runtime that writes
 * them in place would have them, so whoever reads logs need not know. */
#ifndef SERVER_JOBS_LOG_COPY_H
#define SERVER_JOBS_LOG_COPY_H

#include "server/yard.h"

/* Asks for what is missing of the attempt's log. */
void log_copy_ask(struct yard *y, struct attempt *a);
/* Takes bytes of it: host->log() of the runtimes. */
void log_copy_take(struct runtime_host *h, struct attempt_id id, int64_t offset, const char *bytes,
                   size_t n);

#endif
