/* The frames in which an engine sends the output of a container or an exec without a terminal:
 * a byte for the stream, three zero bytes, the length in four bytes, and the content. */
#ifndef RUNTIME_DOCKER_FRAMES_H
#define RUNTIME_DOCKER_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum frame_stream { FRAME_STDIN, FRAME_STDOUT, FRAME_STDERR };

struct frames {
    uint8_t head[8];
    size_t head_n;
    enum frame_stream stream; /* of the frame that is being read */
    uint32_t left;            /* of its content */
};

typedef void (*frames_fn)(void *ctx, enum frame_stream stream, const char *bytes, size_t n);

/* Takes the next bytes and passes on content as it comes; a frame may come in parts. Fails on
 * bytes that are not a frame. */
int frames_feed(struct frames *f, const char *bytes, size_t n, frames_fn fn, void *ctx,
                struct err *err);

#endif
