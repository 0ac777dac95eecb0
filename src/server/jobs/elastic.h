/* Sets up elastic jobs: the malleable library, the launcher of workers, and the page that
 * tells the job its size. */
#ifndef SERVER_JOBS_ELASTIC_H
#define SERVER_JOBS_ELASTIC_H

#include "server/yard.h"

/* Completes the specification, whose command and environment are set. Fails if the job's
 * launcher is not installed. Without the library, the job runs with a notice. */
int elastic_set_up(struct yard *y, const struct live_job *j, struct attempt *a,
                   const struct runtime_start *start, struct err *err);

/* The attempt has reported software that does not cope with fewer CPUs. Unless the job asked
 * for `resize: live`, it keeps its size from now on. */
void elastic_keep_size(struct yard *y, struct attempt *a, const char *misfit);

#endif
