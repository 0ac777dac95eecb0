/* The conductors' socket: one connection for each attempt that goes on, JSON lines
 * both ways. docs/conductor.md has the messages. */
#ifndef SERVER_CONDUCTORS_H
#define SERVER_CONDUCTORS_H

#include "base/err.h"
#include "base/time.h"

struct attempt;
struct conductors;
struct json_t;
struct conduit;
struct yard;

/* Listens on RUN/conductor.sock; nobody else does (the state directory is locked). */
int conductors_open(struct yard *y, struct conductors **out, struct err *err);
/* Closes all connections: conductors connect again to whoever listens next. */
void conductors_close(struct conductors *c);
/* Closes the connections, and goes on listening. */
void conductors_drop(struct conductors *c);
/* The path of the socket. */
const char *conductors_path(const struct conductors *c);

/* Sends a message; takes the reference. */
void conduit_send(struct conduit *link, struct json_t *message);
/* The attempt is gone: the connection is nobody's any more. */
void conduit_forget(struct conduit *link);

#endif
