/* Resizes a job that cannot change in place. */
#ifndef CONDUCTOR_RESTART_H
#define CONDUCTOR_RESTART_H

#include <stdbool.h>

#include "base/err.h"
#include "protocol/to_conductor.h"

struct conductor;

/* Stops the job in order to start it again with another size. ERR_CONFLICT if it is ending. */
int restart_ask(struct conductor *c, const struct restart_message *m, struct err *err);
/* All its processes are gone: starts it again if a restart is still wanted; false if the job is
 * over. */
bool restart_job(struct conductor *c);

#endif
