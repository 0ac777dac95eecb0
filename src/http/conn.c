/* Owns connections and the progress of a request: MHD's callbacks, from the request line to the
 * end of the reply.
 *
 *   on_uri        the request line is in            IDLE -> RECEIVING
 *   on_access     1st: the headers are in; then each piece of the body; last: all
 *                 is there, the handler runs        -> HANDLING -> ANSWERED, or
 *                 -> DEFERRED (suspended), and once more after it was resumed
 *   on_completed  the reply is sent or given up     -> IDLE
 *
 * A connection outlives its socket only while a reply that was deferred without
 * `gone` is still to be answered. */
#include "http/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/admit.h"
#include "http/answer.h"
#include "http/internal.h"
#include "http/listener.h"
#include "http/loop.h"
#include "http/reply.h"
#include "http/stream.h"
#include "http/watch.h"

/* Buffers beyond this are not kept for the next request. */
#define KEEP_BYTES (64u << 10)

static bool owes_request(const struct conn *c)
{
    return c->reply.phase == PHASE_IDLE || c->reply.phase == PHASE_RECEIVING;
}

static void set_phase(struct conn *c, enum phase phase)
{
    struct http_server *s = c->server;
    bool before = owes_request(c);
    c->reply.phase = phase;
    bool after = owes_request(c);
    if (after)
        c->since = uv_now(s->loop);
    if (before == after)
        return;
    s->receiving += after ? 1u : -1u;
    loop_update_tick(s);
}

struct conn *conn_create(struct listener *l, int fd)
{
    struct conn *c = xcalloc(1, sizeof *c);
    c->server = l->server;
    c->listener = l;
    c->fd = fd;
    c->request.peer = &c->peer;
    return c;
}

void conn_free(struct conn *c)
{
    if (!c)
        return;
    answer_reset(&c->reply);
    str_done(&c->target);
    str_done(&c->path);
    str_done(&c->body);
    VEC_DONE(&c->request.query);
    free(c);
}

static void on_started(struct http_server *s, struct MHD_Connection *mhd, struct conn *c)
{
    c->mhd = mhd;
    c->next = s->conns;
    if (c->next)
        c->next->prev = c;
    s->conns = c;
    c->listener->connections++;
    c->daemon->connections++;
    c->since = uv_now(s->loop);
    s->receiving++;
    loop_update_tick(s);
}

static void on_closed(struct http_server *s, struct conn *c)
{
    if (c->prev)
        c->prev->next = c->next;
    else
        s->conns = c->next;
    if (c->next)
        c->next->prev = c->prev;
    c->mhd = NULL;
    listener_release(c->listener);
    c->daemon->connections--;
    if (owes_request(c))
        s->receiving--;
    loop_update_tick(s);
    if (c->reply.phase != PHASE_DEFERRED)
        conn_free(c);
}

static void on_connection(void *cls, struct MHD_Connection *mhd, void **socket_context,
                          enum MHD_ConnectionNotificationCode what)
{
    struct http_server *s = cls;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        *socket_context = TAKE(s->adding);
        on_started(s, mhd, *socket_context);
    } else {
        on_closed(s, *socket_context);
    }
}

static void *on_uri(void *cls, const char *uri, struct MHD_Connection *mhd)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct conn *c = info->socket_context;
    (void)cls;
    c->began = c->server->served ? uv_hrtime() : 0;
    set_phase(c, PHASE_RECEIVING);
    admit_target(c, uri ? uri : "");
    return c;
}

/* Passes the answer to MHD. If that fails, the response stays ours and is freed with the rest
 * when MHD ends the request. */
static enum MHD_Result queue(struct conn *c)
{
    struct reply *r = &c->reply;
    if (MHD_queue_response(c->mhd, r->status, r->response) == MHD_NO)
        return MHD_NO;
    MHD_destroy_response(TAKE(r->response));
    return MHD_YES;
}

static enum MHD_Result dispatch(struct conn *c)
{
    struct request *q = &c->request;
    q->body = c->body.n ? c->body.at : "";
    q->body_n = c->body.n;
    set_phase(c, PHASE_HANDLING);
    if (c->refusal.status)
        reply_refuse(&c->reply, &c->refusal);
    else
        q->route->handle(q, &c->reply, c->server->ctx);
    if (c->reply.phase == PHASE_HANDLING)
        reply_problem_as(&c->reply, 500, err_name(ERR_INTERNAL),
                         "the handler of this address did not answer");
    if (c->reply.phase == PHASE_ANSWERED)
        return queue(c);
    conn_suspend(c);
    if (c->reply.gone)
        watch_add(c);
    return MHD_YES;
}

static enum MHD_Result on_access(void *cls, struct MHD_Connection *mhd, const char *url,
                                 const char *method, const char *version, const char *upload_data,
                                 size_t *upload_data_size, void **request_context)
{
    struct conn *c = *request_context;
    (void)cls;
    (void)mhd;
    (void)url;
    if (c->reply.dead || c->server->cut_off)
        return MHD_NO;
    if (!c->request.method) {
        snprintf(c->method, sizeof c->method, "%s", method);
        c->request.method = c->method;
        admit_request(c, version);
        return c->refuse_now ? dispatch(c) : MHD_YES;
    }
    if (*upload_data_size) {
        size_t n = *upload_data_size;
        *upload_data_size = 0;
        return admit_body(c, upload_data, n) ? MHD_YES : MHD_NO;
    }
    return c->reply.phase == PHASE_ANSWERED ? queue(c) : dispatch(c);
}

static void trim(struct str *s)
{
    s->n = 0;
    if (s->cap > KEEP_BYTES)
        str_done(s);
}

static void on_completed(void *cls, struct MHD_Connection *mhd, void **request_context,
                         enum MHD_RequestTerminationCode how)
{
    struct conn *c = *request_context;
    struct http_server *s = cls;
    (void)mhd;
    (void)how;
    watch_remove(c);
    if (c->reply.stream)
        stream_over(TAKE(c->reply.stream));
    if (s->served && c->request.method)
        s->served(s->ctx, &c->request, (int)c->reply.status,
                  (usec_t)((uv_hrtime() - c->began) / 1000));
    if (c->reply.phase == PHASE_DEFERRED && !c->reply.dead)
        return;
    answer_reset(&c->reply);
    set_phase(c, PHASE_IDLE);
    trim(&c->body);
    c->request.method = NULL;
    c->request.route = NULL;
    if (s->stopping)
        conn_wind_down(c);
}

void conn_suspend(struct conn *c)
{
    c->reply.suspended = true;
    MHD_suspend_connection(c->mhd);
}

void conn_resume(struct conn *c)
{
    if (!c->reply.suspended)
        return;
    c->reply.suspended = false;
    MHD_resume_connection(c->mhd);
    loop_resumed(c->server);
}

void conn_abandon(struct conn *c)
{
    struct reply *r = &c->reply;
    watch_remove(c);
    if (r->stream)
        stream_hang_up(r->stream);
    if (r->phase == PHASE_DEFERRED && r->gone) {
        void (*gone)(void *) = r->gone;
        r->gone = NULL;
        r->dead = true;
        gone(r->gone_ctx);
    }
    conn_resume(c);
}

void conn_check_deadline(struct conn *c, uint64_t now)
{
    static const char late[] = "HTTP/1.1 408 Request Timeout\r\n"
                               "Content-Length: 0\r\nConnection: close\r\n\r\n";
    const struct http_limits *l = &c->server->limits;
    uint64_t limit = l->request_s * 1000ull;
    if (!owes_request(c))
        return;
    /* Between requests MHD handles idle connections; this finds a client that sends its request
     * line byte by byte. */
    if (c->reply.phase == PHASE_IDLE)
        limit += l->idle_s * 1000ull;
    if (now - c->since <= limit)
        return;
    /* Over TLS it is closed without a word. MHD sends nothing while a request arrives, so this does
     * not interfere. */
    if (c->reply.phase == PHASE_RECEIVING && !c->peer.tls)
        send(c->fd, late, sizeof late - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(c->fd, SHUT_RDWR);
}

void conn_wind_down(struct conn *c)
{
    if (c->reply.stream)
        stream_stop(c->reply.stream);
    /* Requests that are already in the socket are still read. */
    if (c->reply.phase == PHASE_IDLE)
        shutdown(c->fd, SHUT_RD);
}

const struct conn_callbacks conn_callbacks = {
    .connection = on_connection,
    .access = on_access,
    .completed = on_completed,
    .uri = on_uri,
};
