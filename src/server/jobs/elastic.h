/* What a job that changes its size is started with: the malleable library, the launcher
 * of its workers, the page by which its conductor tells it. */
#ifndef SERVER_JOBS_ELASTIC_H
#define SERVER_JOBS_ELASTIC_H

#include "server/yard.h"

/* Completes the specification, whose command and environment are there. Fails when a
 * launcher that the job needs is not installed; without the library it runs all the same,
 * with a notice. */
int elastic_set_up(struct yard *y, const struct live_job *j, struct attempt *a,
                   const struct runtime_start *start, struct err *err);

#endif
