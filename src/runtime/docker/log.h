/* The log of an attempt. */
#ifndef RUNTIME_DOCKER_LOG_H
#define RUNTIME_DOCKER_LOG_H

#include "runtime/docker/docker.h"

/* As runtime_ops.fetch_log. */
void log_fetch(struct runtime *r, struct attempt_id id, const char *node, int64_t offset);
/* Ends what is in progress. */
void log_cancel(struct docker_attempt *a);

#endif
