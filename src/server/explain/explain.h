/* Why a job waits or has its size, in sentences for users. */
#ifndef SERVER_EXPLAIN_EXPLAIN_H
#define SERVER_EXPLAIN_EXPLAIN_H

#include "server/yard.h"

struct json_t;

/* The object of GET /jobs/{id}/explain, which the caller owns: a summary, reasons (the most
 * important first), the jobs ahead of it, what would let it start or grow, its expected
 * start. Does not change the yard. ERR_NOT_FOUND if no such job exists. */
int explain_job(struct yard *y, int64_t id, struct json_t **out, struct err *err);

#endif
