/* What the conductor does when the server sends something, connects or disconnects. */
#ifndef CONDUCTOR_OBEY_H
#define CONDUCTOR_OBEY_H

#include "conductor/link.h"

struct conductor;

extern const struct link_user obey_link;
/* Makes the connection to the server, or goes on with the one that was kept. */
void obey_connect(struct conductor *c);
/* Answers the resize that the job has obeyed, or is late with. */
void obey_look(struct conductor *c);

#endif
