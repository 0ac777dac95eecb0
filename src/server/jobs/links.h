/* Links to conductors: who speaks for which attempt, and what they say. The functions are
 * those of struct runtime_host. */
#ifndef SERVER_JOBS_LINKS_H
#define SERVER_JOBS_LINKS_H

#include "runtime/runtime.h"

void links_message(struct runtime_host *h, struct runtime_link *link, const struct to_server *m);
void links_lost(struct runtime_host *h, struct runtime_link *link);

/* Its attempt is over, recorded and cleaned up: whatever comes is acknowledged. */
void links_over(struct runtime_link *link);

#endif
