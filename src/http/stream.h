/* Replies without a fixed end: streams of bytes, and server-sent events. The handler pushes
 * data; what the client has not read yet waits in a buffer of limited size (struct http_limits).
 *
 * The handler may use a stream until `closed` is called or until it calls stream_end(). No
 * callback is called from within a stream_* function. */
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

/* Answers with status 200 and a stream of bytes (chunked on HTTP/1.1). NULL when the reply was
 * deferred without `gone` and the server has stopped meanwhile. */
struct stream *reply_stream(struct reply *r, const char *type, const struct stream_ops *ops,
                            void *ctx);
/* Accepts as many bytes as there is room for and returns how many. Write the rest again when the
 * stream has drained. */
size_t stream_write(struct stream *s, const char *bytes, size_t n);

/* Answers with status 200 and an event stream, or NULL as above. Comments keep it alive while
 * there are no events. A reader that reconnects sends the id of the last event it has seen in the
 * header Last-Event-ID. */
struct stream *reply_events(struct reply *r, const struct stream_ops *ops, void *ctx);
/* Sends an event; id and event may be NULL. Returns -1 when the client is so slow that its
 * buffer is full: the stream then ends with a comment that says so, and `closed` follows. Until
 * then further calls also return -1. */
int stream_event(struct stream *s, const char *id, const char *event, const char *data);

/* Sends the rest of the buffer and ends the reply. */
void stream_end(struct stream *s);

/* For the server itself: it stops, the client is gone, the exchange is complete. */
void stream_stop(struct stream *s);
void stream_hang_up(struct stream *s);
void stream_over(struct stream *s);

#endif
