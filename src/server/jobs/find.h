/* Finds the job that a user names. */
#ifndef SERVER_JOBS_FIND_H
#define SERVER_JOBS_FIND_H

#include "server/yard.h"

/* `text` is a number, a name or a unique prefix of a name. If several jobs have the name, the
 * newest is found. Fails with ERR_NOT_FOUND, or ERR_CONFLICT and the candidates. */
int find_job(struct yard *y, const char *text, int64_t *id, struct err *err);

#endif
