/* Where a server listens: unix sockets and TCP. */
#ifndef HTTP_LISTEN_H
#define HTTP_LISTEN_H

#include <stdbool.h>

#include "base/err.h"

struct http_server;

/* Listens on a unix socket that only the owner may use (0600), or the configured group (0660). A
 * socket file on which nothing answers is replaced; one that is in use, or another kind of file, is
 * ERR_CONFLICT. */
int http_server_listen_unix(struct http_server *s, const char *path, struct err *err);

/* Listens on "ADDR:PORT": "127.0.0.1:8080", "[::1]:8080", "host:8080", or
 * ":8080" for all addresses. Port 0 picks a free one; *port (may be NULL) gets the
 * one in use, and *open (may be NULL) whether other machines can reach it. The
 * configuration must have `identify`. */
int http_server_listen_tcp(struct http_server *s, const char *where, unsigned *port, bool *open,
                           struct err *err);

/* Makes the unix sockets again whose files are gone, or are not those that were made. Connections
 * stay. */
int http_server_restore(struct http_server *s, struct err *err);

#endif
