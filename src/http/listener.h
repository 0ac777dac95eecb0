/* Sockets that listen. */
#ifndef HTTP_LISTENER_H
#define HTTP_LISTENER_H

#include <stdbool.h>

#include "base/err.h"

struct http_server;
struct listener;

/* Accepts connections from a descriptor that is bound and listens, which it takes. */
struct listener *listener_add(struct http_server *s, int fd, bool local, struct err *err);
/* A connection is over: another one may be accepted. */
void listener_release(struct listener *l);
/* Accepts again where that was not possible. */
void listener_retry(struct http_server *s);
void listener_close_all(struct http_server *s);
/* Connections point to their listener until the end. */
void listener_free_all(struct http_server *s);

#endif
