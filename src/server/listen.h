/* Where clients reach the server: its unix socket, and TCP with or without TLS. */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <stdbool.h>

#include "base/err.h"

struct http_server;
struct yard;

struct listen_config {
    const char *socket;             /* path */
    const char *tcp;                /* "ADDR:PORT"; NULL = none */
    const char *state_dir;          /* where a certificate of our own is kept */
    bool tls;                       /* with a certificate of our own, unless one is given */
    const char *tls_cert, *tls_key; /* PEM files; NULL = none */
};

/* Listens, and logs where. Browsers are sent to the address that yard->access gets. */
int listen_open(struct http_server *http, struct yard *y, const struct listen_config *c,
                struct err *err);
/* Reads the certificate again. If it cannot be used, the old one stays. */
void listen_reload(struct http_server *http, const struct listen_config *c);

#endif
