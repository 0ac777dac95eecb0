/* The machine is going down: jobs are asked to save themselves. */
#ifndef SERVER_SHUTDOWN_H
#define SERVER_SHUTDOWN_H

#include "server/yard.h"

/* Stops all attempts, each within its grace. Nothing starts any more; jobs that can continue
 * later are queued, and the next server starts them. */
void shutdown_begin(struct yard *y);
/* Whether no attempt runs any more. */
bool shutdown_over(const struct yard *y);

#endif
