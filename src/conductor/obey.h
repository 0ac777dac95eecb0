/* The conductor's reaction to messages, connects and disconnects of the server. */
#ifndef CONDUCTOR_OBEY_H
#define CONDUCTOR_OBEY_H

#include "conductor/link.h"

struct conductor;

extern const struct link_user obey_link;
/* Connects to the server, or continues with a kept connection. */
void obey_connect(struct conductor *c);
/* Answers a resize that the job has obeyed or is late with. */
void obey_look(struct conductor *c);
/* Asks for a new lease when it is time to, and stops the job when the lease is over. */
void obey_lease(struct conductor *c);

#endif
