/* The state that the files of the server share; no other file includes it.
 *
 * libmicrohttpd (MHD) implements the protocol. It runs inside http_server's pump, on epoll
 * descriptors of its own, which the loop watches. Each of its connections has a struct conn, which
 * is reused for one request after the other. All memory of a request is freed in one place,
 * on_completed in conn.c.
 *
 *   server.c    creates and stops the server
 *   loop.c      runs MHD in the loop; timers, closing of all handles
 *   listen.c    opens unix and TCP sockets; listener.c accepts from them
 *   crowd.c     limits the connections of one peer, and of those without the token
 *   conn.c      MHD's callbacks: from the request line to the end of the reply
 *   tls.c       certificates
 *   admit.c     which requests are refused before a handler runs
 *   watch.c     notices clients that hang up while their connection is suspended
 *   answer.c    passes the answer to MHD, with the headers that all replies have
 *   reply.c     makes replies; content.c those with ranges; stream.c streams */
#ifndef HTTP_INTERNAL_H
#define HTTP_INTERNAL_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uv.h>

#include "base/mem.h"
#include "base/str.h"
#include "http/problem.h"
#include "http/request.h"
#include "http/server.h"

enum phase {
    PHASE_IDLE,      /* between requests */
    PHASE_RECEIVING, /* the request line has arrived */
    PHASE_HANDLING,  /* the handler runs */
    PHASE_DEFERRED,  /* suspended until the handler answers */
    PHASE_ANSWERED,  /* the reply is ready and is being sent */
};

struct reply {
    enum phase phase;
    unsigned status;
    struct MHD_Response *response; /* ours until MHD has taken it */
    struct {
        VEC(struct url_pair);
    } headers; /* from reply_header; owned strings */
    struct stream *stream;
    void (*gone)(void *ctx);
    void *gone_ctx;
    bool suspended; /* MHD does nothing for the connection until resumed */
    bool dead;      /* the client is gone: close */
};

struct conn {
    struct http_server *server;
    struct listener *listener;
    struct MHD_Connection *mhd; /* NULL once it is closed */
    struct conn *prev, *next;
    int fd;
    bool watched;
    struct daemon *daemon;
    bool known;       /* it is local, or has sent a token or a cookie that counts */
    bool crowded_out; /* it is being closed, as there were too many */
    struct peer peer;
    uint64_t since;          /* ms: when this phase of receiving began */
    uint64_t began;          /* ns: when the request line arrived */
    struct str target, path; /* the request's address, split and as it was sent */
    struct str body;
    size_t segments;
    char *segment[ROUTE_SEGMENTS];
    size_t discarded;        /* bytes of an unwanted body */
    struct problem refusal;  /* status 0 = none */
    struct err refusal_text; /* what refusal.detail points to */
    bool refuse_now;         /* without waiting for the body */
    char method[16];
    struct request request;
    struct reply reply;
};

struct listener {
    struct http_server *server;
    struct listener *next;
    uv_poll_t poll;
    int fd;
    bool local, paused;
    bool closed; /* accepts no more; its connections may go on */
    unsigned connections;
    char *path; /* of a unix socket, */
    dev_t dev;  /* and the file that we made there */
    ino_t ino;
};

/* A daemon of MHD. All of its connections speak TLS or none does, and its certificate never
 * changes: a new certificate comes with a new daemon, and the old one stays until its
 * connections are closed. */
struct daemon {
    struct http_server *server;
    struct daemon *next;
    struct MHD_Daemon *mhd;
    uv_poll_t poll; /* MHD's epoll descriptor */
    unsigned connections;
};

struct http_server {
    uv_loop_t *loop;
    const struct route *routes;
    void *ctx;
    bool (*identify)(void *ctx, const struct request *request, struct caller *caller);
    gid_t group; /* whose members may use unix sockets; 0 = only the owner */
    struct http_limits limits;
    void (*served)(void *ctx, const struct request *request, int status, usec_t took);
    struct daemon *daemons;
    struct daemon *plain, *tls; /* for new connections; tls is NULL without a certificate */
    uv_timer_t wake;            /* MHD's next timeout */
    uv_timer_t tick;            /* while requests arrive: looks for slow ones */
    uv_timer_t comment;         /* while there are event streams */
    uv_timer_t grace;           /* while stopping */
    int watch_fd;               /* epoll: hang-ups */
    uv_poll_t watch;
    unsigned handles; /* of libuv, still open */
    struct listener *listeners;
    struct conn *conns, *adding;
    unsigned receiving; /* connections that wait for a request */
    unsigned event_streams;
    bool pumping, resumed; /* inside MHD; a connection was resumed since */
    bool stopping;
    bool cut_off; /* no exchange may begin or wait */
    void (*stopped)(void *ctx);
    void *stopped_ctx;
};

/* A reply is part of its connection. */
static inline struct conn *conn_of(const struct reply *r)
{
    return (struct conn *)((const char *)r - offsetof(struct conn, reply));
}

#endif
