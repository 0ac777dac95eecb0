/* Listening sockets. */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include <stdbool.h>

#include "base/err.h"

struct http_server;
struct listener;

/* Accepts connections from a listening descriptor, which it takes. */
struct listener *listener_add(struct http_server *s, int fd, bool local, struct err *err);
/* A connection is closed: another one may be accepted. */
void listener_release(struct listener *l);
/* Tries again to accept where it failed. */
void listener_retry(struct http_server *s);
/* Accepts no more. Connections point to their listener until they are freed. */
void listener_close(struct listener *l);
void listener_close_all(struct http_server *s);
/* When no connection is left. */
void listener_free_all(struct http_server *s);

#endif
