/* Attempts that were going on when an earlier server ended. */
#ifndef SERVER_JOBS_ADOPT_H
#define SERVER_JOBS_ADOPT_H

#include "server/yard.h"

/* Before the engine is made: it must know the types of the GPUs that they hold. */
int adopt_gpu_types(struct yard *y, struct err *err);
/* Reads them, into the jobs that are live. */
int adopt_load(struct yard *y, struct err *err);

/* Puts all live jobs back into the engine as they were, with the time that passed since;
 * then looks what became of each attempt; then offers those that wait. */
void adopt_all(struct yard *y);

#endif
