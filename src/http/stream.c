/* Owns streams: their buffers, and the interplay with MHD, which reads through read_stream what
 * was pushed into the buffer. While the buffer is empty the connection is suspended, so an idle
 * stream costs nothing; pushing resumes it.
 *
 * MHD's response frees the stream (free_stream) when the reply is complete; stream_over always
 * comes first. */
#include "http/stream.h"

#include <stdlib.h>
#include <string.h>

#include "http/answer.h"
#include "http/conn.h"
#include "http/internal.h"
#include "http/reply.h"
#include "http/sse.h"
#include "http/watch.h"

#define RETRY_MS 2000

struct stream {
    struct conn *conn;
    const struct stream_ops *ops;
    void *ctx;
    struct str buffer;
    size_t sent;    /* bytes of the buffer that MHD has taken */
    bool events;    /* server-sent events, not bytes */
    bool ended;     /* nothing follows the buffer */
    bool broken;    /* break off with an error */
    bool abandoned; /* by its handler: no more callbacks */
    bool reading;   /* inside read_stream */
};

static size_t waiting(const struct stream *s)
{
    return s->buffer.n - s->sent;
}

/* MHD reads the buffer when it runs again; inside read_stream it already does. */
static void wake(struct stream *s)
{
    if (!s->reading)
        conn_resume(s->conn);
}

static size_t take(struct stream *s, char *buf, size_t max)
{
    size_t n = waiting(s) < max ? waiting(s) : max;
    memcpy(buf, s->buffer.at + s->sent, n);
    s->sent += n;
    if (!waiting(s)) {
        s->sent = s->buffer.n = 0;
        if (s->buffer.cap > s->conn->server->limits.stream / 4)
            str_done(&s->buffer);
    }
    return n;
}

static ssize_t read_stream(void *cls, uint64_t at, char *buf, size_t max)
{
    struct stream *s = cls;
    (void)at;
    if (!waiting(s) && !s->ended && !s->broken && s->ops->drained) {
        s->reading = true;
        s->ops->drained(s, s->ctx);
        s->reading = false;
    }
    if (s->broken)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (waiting(s))
        return (ssize_t)take(s, buf, max);
    if (s->ended)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (s->conn->server->cut_off)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    conn_suspend(s->conn);
    return 0;
}

static void free_stream(void *cls)
{
    struct stream *s = cls;
    str_done(&s->buffer);
    free(s);
}

static void append(struct stream *s, const char *bytes, size_t n)
{
    /* Sent bytes are removed when they are most of the buffer. */
    if (s->sent > s->buffer.n / 2) {
        memmove(s->buffer.at, s->buffer.at + s->sent, waiting(s));
        s->buffer.n = waiting(s);
        s->sent = 0;
    }
    str_add_n(&s->buffer, bytes, n);
    wake(s);
}

/* MHD (0.9.75) ends the reply to a HEAD request with the last chunk of an empty body, unless it
 * is told that the client does not support chunks. */
static void allow_head(struct MHD_Response *response, const struct request *q)
{
    if (!strcmp(q->method, "HEAD"))
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

struct stream *reply_stream(struct reply *r, const char *type, const struct stream_ops *ops,
                            void *ctx)
{
    struct conn *c = conn_of(r);
    if (!c->mhd) {
        reply_empty(r, 200);
        return NULL;
    }
    struct stream *s = xcalloc(1, sizeof *s);
    *s = (struct stream){.conn = c, .ops = ops, .ctx = ctx};
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 4096, read_stream, s, free_stream);
    allow_head(response, &c->request);
    r->stream = s;
    watch_add(c);
    answer_finish(r, 200, type, response);
    return s;
}

size_t stream_write(struct stream *s, const char *bytes, size_t n)
{
    size_t room = s->conn->server->limits.stream;
    if (s->ended || s->broken || waiting(s) >= room)
        return 0;
    room -= waiting(s);
    n = n < room ? n : room;
    if (n)
        append(s, bytes, n);
    return n;
}

void stream_end(struct stream *s)
{
    s->abandoned = true;
    s->ended = true;
    wake(s);
}

/* ---- events ---------------------------------------------------------------- */

static void append_comment(struct stream *s, const char *text)
{
    struct str line = {0};
    sse_add_comment(&line, text);
    append(s, line.at, line.n);
    str_done(&line);
}

/* Keeps idle connections alive. A client that has not read everything yet is alive or stuck, and
 * MHD's timeout tells which. */
static void on_comment(uv_timer_t *timer)
{
    struct http_server *server = timer->data;
    for (struct conn *c = server->conns; c; c = c->next) {
        struct stream *s = c->reply.stream;
        if (s && s->events && !s->ended && !s->broken && !waiting(s))
            append_comment(s, "");
    }
}

struct stream *reply_events(struct reply *r, const struct stream_ops *ops, void *ctx)
{
    struct stream *s = reply_stream(r, "text/event-stream", ops, ctx);
    if (!s)
        return NULL;
    struct http_server *server = s->conn->server;
    struct str first = {0};
    s->events = true;
    if (!server->event_streams++) {
        uint64_t period = server->limits.comment_s * 1000ull;
        uv_timer_start(&server->comment, on_comment, period, period);
    }
    sse_add_retry(&first, RETRY_MS);
    append(s, first.at, first.n);
    str_done(&first);
    if (server->stopping)
        stream_stop(s);
    return s;
}

int stream_event(struct stream *s, const char *id, const char *event, const char *data)
{
    struct str text = {0};
    int rc = -1;
    if (s->ended || s->broken)
        return -1;
    sse_add_event(&text, id, event, data);
    /* A single event may be of any size. */
    if (waiting(s) && waiting(s) + text.n > s->conn->server->limits.stream) {
        append_comment(s, "too slow, events were dropped; reconnect with Last-Event-ID");
        s->ended = true;
    } else {
        append(s, text.at, text.n);
        rc = 0;
    }
    str_done(&text);
    return rc;
}

/* ---- the end --------------------------------------------------------------- */

void stream_stop(struct stream *s)
{
    if (s->ended || s->broken)
        return;
    /* A normal end would make the bytes look complete. */
    if (s->events) {
        append_comment(s, "the server is stopping");
        s->ended = true;
    } else {
        s->broken = true;
    }
    wake(s);
}

void stream_hang_up(struct stream *s)
{
    s->broken = true;
}

void stream_over(struct stream *s)
{
    struct http_server *server = s->conn->server;
    if (s->events && !--server->event_streams)
        uv_timer_stop(&server->comment);
    if (!s->abandoned && s->ops->closed)
        s->ops->closed(s, s->ctx);
}
