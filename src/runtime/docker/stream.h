/* A connection through an engine to the standard streams of an exec. */
#ifndef RUNTIME_DOCKER_STREAM_H
#define RUNTIME_DOCKER_STREAM_H

#include "base/time.h"
#include "runtime/docker/engine.h"

struct stream;

struct stream_user {
    /* What the program wrote to standard output. */
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    /* It has ended, or could not be opened; then `why` has what is known. The stream is gone. */
    void (*closed)(void *ctx, const struct err *why);
};

/* Starts the exec, which was created before. */
struct stream *stream_open(struct engine *e, const char *exec, const struct stream_user *user,
                           void *ctx);
/* Writes to its standard input, in order. */
void stream_send(struct stream *s, const char *bytes, size_t n);
/* Ends it; `closed` is not called. NULL is allowed. */
void stream_close(struct stream *s);

#endif
