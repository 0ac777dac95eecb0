/* An HTTP/1.1 server on the caller's libuv loop: listeners (a unix socket, TCP) and one table of
 * routes. One thread, no locks; it does not wake up while no client wants anything. See
 * http/listen.h for listening; handlers use http/request.h, http/reply.h, http/content.h and
 * http/stream.h. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/time.h"
#include "http/router.h"

struct caller;
struct tls_certificate;
struct uv_loop_s;
struct http_server;

/* 0 means the default. */
struct http_limits {
    size_t body;               /* bytes of a request's body: 8 MiB; more is 413 */
    size_t header;             /* bytes of a request's line and headers: 16 KiB; more is 431 */
    size_t stream;             /* bytes that wait for a slow client of a stream: 256 KiB */
    unsigned connections;      /* of each listener: 1000; more wait to be accepted */
    unsigned peer_connections; /* of one process or, over TCP, one address: 256 */
    unsigned strangers;        /* connections over TCP of unknown clients: 128 */
    unsigned idle_s;           /* before a connection without traffic is closed: 60 */
    unsigned request_s;        /* for a request to arrive: 30 */
    unsigned comment_s;        /* between comments that keep event streams alive: 15 */
};

struct http_config {
    const struct route *routes; /* ends with {0}; borrowed */
    void *ctx;                  /* for the handlers */
    /* Whether the client of a request over TCP is known, by its token or its cookie (see
     * http/token.h). Fills *caller, which handlers find in the request. NULL = no TCP. */
    bool (*identify)(void *ctx, const struct request *request, struct caller *caller);
    gid_t group; /* whose members may use unix sockets; 0 = only the owner */
    struct http_limits limits;
    /* Called when a request is complete, whether or not the client got the reply, for logs and
     * metrics. request->route is NULL when none was found. May be NULL. */
    void (*served)(void *ctx, const struct request *request, int status, usec_t took);
};

/* Creates a server that does not listen yet (see http/listen.h). */
int http_server_create(struct uv_loop_s *loop, const struct http_config *config,
                       struct http_server **out, struct err *err);

/* New connections over TCP speak TLS with this certificate, which is copied; existing ones keep
 * what they have. */
int http_server_use_certificate(struct http_server *s, const struct tls_certificate *certificate,
                                struct err *err);

/* Stops and frees the server: accepts no more connections, ends all streams, lets replies finish
 * for up to `grace`, and then closes the remaining connections. Calls stopped(ctx) (may be NULL)
 * from the loop at the end; the loop must run until then. May be called from a handler. No reply
 * or stream may be used after that, except that replies which were deferred without `gone` may
 * still be answered. */
void http_server_stop(struct http_server *s, usec_t grace, void (*stopped)(void *ctx), void *ctx);

#endif
