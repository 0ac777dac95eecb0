/* The conductors' socket, RUN/conductor.sock: one connection for each attempt that runs,
 * with one JSON object per line in both directions. A conductor whose attempt is over stays for a
 * moment, and can be given another. */
#ifndef RUNTIME_LOCAL_LINKS_H
#define RUNTIME_LOCAL_LINKS_H

#include "runtime/runtime.h"

struct links;

/* Listens, if the host has a loop. The run directory is this server's alone. */
int links_open(struct runtime *r, struct links **out, struct err *err);
/* Ends all connections: conductors connect again to whoever listens next. NULL is fine. */
void links_close(struct links *l);

/* Gives the attempt in this directory to a conductor that has none; false when there is no
 * such conductor. If that one dies before it says hello, another is started. */
bool links_give(struct links *l, const char *dir, int64_t *pid);

/* As in struct runtime_ops. */
void links_send(struct runtime *r, struct runtime_link *link, const struct to_conductor *m);
void links_unlink(struct runtime *r, struct runtime_link *link);

/* Makes the socket again if its file is gone. Conductors that are connected stay so. */
int links_restore(struct runtime *r, struct err *err);

#endif
