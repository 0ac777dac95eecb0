/* Takes over attempts that were running when an earlier server ended. */
#ifndef SERVER_JOBS_ADOPT_H
#define SERVER_JOBS_ADOPT_H

#include "server/yard.h"

/* Before the engine is made: it must know the nodes that they are on, and the types of the
 * GPUs that they hold. */
int adopt_prepare(struct yard *y, struct err *err);
/* Loads the attempts of live jobs. */
int adopt_load(struct yard *y, struct err *err);

/* Restores all live jobs in the engine, with the time that has passed; has each attempt
 * settled; then offers waiting jobs to the engine. */
void adopt_all(struct yard *y);

#endif
