/* Links to conductors: which attempt a link belongs to, and the messages on it. links_message()
 * and links_lost() are callbacks of struct runtime_host. */
#ifndef SERVER_JOBS_LINKS_H
#define SERVER_JOBS_LINKS_H

#include "runtime/runtime.h"

void links_message(struct runtime_host *h, struct runtime_link *link, const struct to_server *m);
void links_lost(struct runtime_host *h, struct runtime_link *link);

/* The attempt of the link has ended and is cleaned up: acknowledges whatever arrives. */
void links_over(struct runtime_link *link);

#endif
