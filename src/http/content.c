/* Owns replies that can be given in part or not at all: Range, ETag,
 * If-None-Match, If-Range. */
#include "http/content.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "http/answer.h"
#include "http/range.h"
#include "http/reply.h"
#include "http/request.h"

#define BLOCK_BYTES (64u << 10)

/* The part of the source that a reply sends. */
struct part {
    struct reply_source source;
    uint64_t first;
};

static ssize_t read_part(void *cls, uint64_t at, char *buf, size_t n)
{
    const struct part *p = cls;
    ssize_t got = p->source.read(p->source.ctx, p->first + at, buf, n);
    /* 0 would make MHD ask again and again for something that has shrunk. */
    return got > 0 ? got : MHD_CONTENT_READER_END_WITH_ERROR;
}

static void end_source(const struct reply_source *source)
{
    if (source->done)
        source->done(source->ctx);
}

static void free_part(void *cls)
{
    struct part *p = cls;
    end_source(&p->source);
    free(p);
}

static void send_part(struct reply *r, int status, const char *type,
                      const struct reply_source *source, uint64_t first, uint64_t n)
{
    struct part *p = xmalloc(sizeof *p);
    *p = (struct part){*source, first};
    answer_finish(r, status, type,
                  MHD_create_response_from_callback(n, n < BLOCK_BYTES && n ? n : BLOCK_BYTES,
                                                    read_part, p, free_part));
}

void reply_source(struct reply *r, const char *type, const struct reply_source *source,
                  const char *etag)
{
    const struct request *q = reply_request(r);
    const char *range = request_header(q, "Range"), *if_range = request_header(q, "If-Range");
    uint64_t first = 0, n = source->size;
    char text[64];
    reply_header(r, "Accept-Ranges", "bytes");
    if (etag) {
        reply_header(r, "ETag", etag);
        reply_header(r, "Cache-Control", "no-cache");
        if (http_etag_matches(request_header(q, "If-None-Match"), etag)) {
            end_source(source);
            reply_empty(r, 304);
            return;
        }
    }
    /* A part of what was there before does not fit to the rest of what is now. */
    if (if_range && !http_etag_matches(if_range, etag))
        range = NULL;
    switch (http_range_parse(range, source->size, &first, &n)) {
    case HTTP_RANGE_WHOLE:
        send_part(r, 200, type, source, 0, source->size);
        return;
    case HTTP_RANGE_PART:
        snprintf(text, sizeof text, "bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64, first, first + n - 1,
                 source->size);
        reply_header(r, "Content-Range", text);
        send_part(r, 206, type, source, first, n);
        return;
    case HTTP_RANGE_NONE:
        snprintf(text, sizeof text, "bytes */%" PRIu64, source->size);
        reply_header(r, "Content-Range", text);
        end_source(source);
        snprintf(text, sizeof text, "there are %" PRIu64 " bytes", source->size);
        reply_problem_as(r, 416, "range_not_satisfiable", text);
    }
}

static ssize_t read_file(void *ctx, uint64_t at, char *buf, size_t n)
{
    return pread(*(int *)ctx, buf, n, (off_t)at);
}

static void close_file(void *ctx)
{
    close(*(int *)ctx);
    free(ctx);
}

void reply_file(struct reply *r, const char *type, int fd, uint64_t size, const char *etag)
{
    int *ctx = xmalloc(sizeof *ctx);
    *ctx = fd;
    reply_source(r, type, &(struct reply_source){size, read_file, close_file, ctx}, etag);
}

struct constant {
    const char *bytes;
    size_t n;
};

static ssize_t read_constant(void *ctx, uint64_t at, char *buf, size_t n)
{
    const struct constant *c = ctx;
    n = n < c->n - at ? n : c->n - at;
    memcpy(buf, c->bytes + at, n);
    return (ssize_t)n;
}

void reply_static(struct reply *r, const char *type, const char *bytes, size_t n, const char *etag)
{
    struct constant *ctx = xmalloc(sizeof *ctx);
    *ctx = (struct constant){bytes, n};
    reply_source(r, type, &(struct reply_source){n, read_constant, free, ctx}, etag);
}
