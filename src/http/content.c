/* Owns replies that can be sent in part: Range and If-Range. */
#include "http/content.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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
    /* After 0, MHD would keep asking for bytes of a source that has shrunk. */
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

void reply_source(struct reply *r, const char *type, const struct reply_source *source)
{
    const struct request *q = reply_request(r);
    /* Sources have no validator, so no condition of If-Range can hold. */
    const char *range = request_header(q, "If-Range") ? NULL : request_header(q, "Range");
    uint64_t first = 0, n = source->size;
    char text[64];
    reply_header(r, "Accept-Ranges", "bytes");
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
        snprintf(text, sizeof text, "there are only %" PRIu64 " bytes", source->size);
        reply_problem_as(r, 416, "range_not_satisfiable", text);
    }
}
