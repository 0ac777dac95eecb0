/* An HTTP/1.1 server on the caller's libuv loop: listeners (a unix socket, TCP),
 * one table of routes. One thread, no locks; nothing wakes up while no client
 * wants anything. http/listen.h says where it listens; http/request.h, http/reply.h,
 * http/content.h and http/stream.h are what handlers use. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include <stddef.h>

#include "base/err.h"
#include "base/time.h"
#include "http/router.h"

struct uv_loop_s;
struct http_server;

/* 0 means the default. */
struct http_limits {
    size_t body;          /* bytes of a request's body: 8 MiB; more is answered with 413 */
    size_t header;        /* bytes of a request's line and headers: 16 KiB; 431 */
    size_t stream;        /* bytes that wait for a slow client of a stream: 256 KiB */
    unsigned connections; /* of each listener: 1000; more wait to be accepted */
    unsigned idle_s;      /* a connection without any traffic is closed: 60 */
    unsigned request_s;   /* a request must have arrived within: 30 */
    unsigned comment_s;   /* between comments that keep event streams alive: 15 */
};

struct http_config {
    const struct route *routes; /* ends with {0}; borrowed */
    void *ctx;                  /* for the handlers */
    const char *token;          /* what clients by TCP must bear; NULL = no TCP */
    struct http_limits limits;
    /* Called when a request is over, whether or not the client got the reply: for
     * logs and metrics. request->route is NULL when none was found. May be NULL. */
    void (*served)(void *ctx, const struct request *request, int status, usec_t took);
};

/* Creates a server that does not listen yet: see http/listen.h. */
int http_server_create(struct uv_loop_s *loop, const struct http_config *config,
                       struct http_server **out, struct err *err);

/* Stops and frees the server: takes no more connections, ends all streams, lets
 * replies finish for up to `grace`, then cuts off what is left. Calls stopped(ctx)
 * (may be NULL) from the loop when all is over; the loop must run until then. May
 * be called from a handler. No reply or stream may be used after that, but for
 * replies that were deferred without `gone`, which may still be answered. */
void http_server_stop(struct http_server *s, usec_t grace, void (*stopped)(void *ctx), void *ctx);

#endif
