/* Owns the decoding of frames. Nothing of the content is kept. */
#include "runtime/docker/frames.h"

static int read_head(struct frames *f, struct err *err)
{
    const uint8_t *h = f->head;
    if (h[0] > FRAME_STDERR || h[1] || h[2] || h[3])
        return err_set(err, ERR_INVALID, "the engine sent output that is not in frames");
    f->stream = (enum frame_stream)h[0];
    f->left = (uint32_t)h[4] << 24 | (uint32_t)h[5] << 16 | (uint32_t)h[6] << 8 | h[7];
    f->head_n = 0;
    return 0;
}

int frames_feed(struct frames *f, const char *bytes, size_t n, frames_fn fn, void *ctx,
                struct err *err)
{
    while (n) {
        if (f->left) {
            size_t part = n < f->left ? n : f->left;
            fn(ctx, f->stream, bytes, part);
            f->left -= (uint32_t)part;
            bytes += part;
            n -= part;
            continue;
        }
        f->head[f->head_n++] = (uint8_t)*bytes++;
        n--;
        if (f->head_n == sizeof f->head && read_head(f, err) < 0)
            return -1;
    }
    return 0;
}
