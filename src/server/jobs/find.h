/* Which job a user means. */
#ifndef SERVER_JOBS_FIND_H
#define SERVER_JOBS_FIND_H

#include "server/yard.h"

/* The job that the text means: a number, a name or a unique prefix of one. A name
 * that several jobs have means the newest. ERR_NOT_FOUND, or ERR_CONFLICT with the
 * candidates. */
int find_job(struct yard *y, const char *text, int64_t *id, struct err *err);

#endif
