/* Why a job waits or has what it has, in sentences for people. */
#ifndef SERVER_EXPLAIN_EXPLAIN_H
#define SERVER_EXPLAIN_EXPLAIN_H

#include "server/yard.h"

struct json_t;

/* The object of GET /jobs/{id}/explain, which the caller owns: a summary, reasons (the
 * most important first), who is ahead, what would free it, when it should start.
 * Nothing in the yard changes. ERR_NOT_FOUND when there is no such job. */
int explain_job(struct yard *y, int64_t id, struct json_t **out, struct err *err);

#endif
