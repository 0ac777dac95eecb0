/* Replies without an end: byte streams that follow something that grows, and
 * server-sent events. Data is pushed; what the client has not taken yet waits in
 * a buffer of bounded size (struct http_limits).
 *
 * A stream is the handler's until `closed` is called or it calls stream_end.
 * Neither callback is ever called from within a stream_* function. */
#ifndef HTTP_STREAM_H
#define HTTP_STREAM_H

#include <stdbool.h>
#include <stddef.h>

struct reply;
struct stream;

struct stream_ops {
    /* The buffer is empty and the client would take more; called at the start too.
     * A source that has more at hand writes it here, others do nothing and write
     * when they have something. NULL = not interested. */
    void (*drained)(struct stream *s, void *ctx);
    /* The stream is over: the client hung up, was too slow, or the server stops. s
     * is gone. Not called after stream_end. */
    void (*closed)(struct stream *s, void *ctx);
};

/* Answers with status 200 and a stream of bytes (chunked on HTTP/1.1). NULL when
 * the reply was deferred without `gone` and the server has stopped meanwhile. */
struct stream *reply_stream(struct reply *r, const char *type, const struct stream_ops *ops,
                            void *ctx);
/* Takes as much as there is room for and returns how much that was. What is left
 * over is written again when the stream has drained. */
size_t stream_write(struct stream *s, const char *bytes, size_t n);

/* Answers with status 200 and an event stream, or NULL as above. Comments keep it alive while there
 * is nothing else to say. A reader that comes back says what it has seen last in
 * the header Last-Event-ID. */
struct stream *reply_events(struct reply *r, const struct stream_ops *ops, void *ctx);
/* Sends an event; id and event may be NULL. Returns -1 when the client is too slow
 * for its buffer to hold it: the stream then ends with a comment that says so, and
 * `closed` follows. The same -1 again until then. */
int stream_event(struct stream *s, const char *id, const char *event, const char *data);

/* Sends what is in the buffer and ends the reply. */
void stream_end(struct stream *s);

/* For the server itself: it stops, the client is gone, the exchange is complete. */
void stream_stop(struct stream *s);
void stream_hang_up(struct stream *s);
void stream_over(struct stream *s);

#endif
