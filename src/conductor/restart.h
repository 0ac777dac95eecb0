/* Changes the size of a job that cannot change in place. */
#ifndef CONDUCTOR_RESTART_H
#define CONDUCTOR_RESTART_H

#include <stdbool.h>

#include "base/err.h"
#include "protocol/to_conductor.h"

struct conductor;

/* Stops the job, to start it again with another size. ERR_CONFLICT when it is ending. */
int restart_ask(struct conductor *c, const struct restart_message *m, struct err *err);
/* All its processes are gone: starts it again if that was wanted and is still; false when
 * the job is over. */
bool restart_job(struct conductor *c);

#endif
