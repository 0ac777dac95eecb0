/* Writing and reading of server-sent events (text/event-stream). Pure. */
#ifndef HTTP_SSE_H
#define HTTP_SSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* The largest event that is read. */
#define SSE_EVENT_LIMIT (16u << 20)

/* Appends one event; id and event may be NULL. Line ends in `data` make several data lines; id
 * and event are cut at a line end. */
void sse_add_event(struct str *out, const char *id, const char *event, const char *data);
/* Appends a comment, which readers ignore. */
void sse_add_comment(struct str *out, const char *text);
/* Appends how long a reader waits before it connects again. */
void sse_add_retry(struct str *out, unsigned milliseconds);

struct sse_event {
    const char *id;    /* the last id so far; "" = none yet */
    const char *event; /* "message" when the stream does not say */
    const char *data;  /* NUL-terminated */
    size_t n;          /* bytes of data */
};

/* Reads a stream in pieces of any size; ready to use when zeroed. */
struct sse_reader {
    struct str line, data, event, id;
    bool has_data, after_cr, started;
    uint64_t retry_ms; /* as the server asked for; 0 = it did not */
};

/* Reads the next bytes and calls `each` for every event that they complete. When `each` does not
 * return 0, the rest is dropped and that value returned. -1 with *err for a line or an event
 * beyond the limit. */
int sse_read(struct sse_reader *r, const char *bytes, size_t n,
             int (*each)(void *ctx, const struct sse_event *event), void *ctx, struct err *err);
void sse_reader_done(struct sse_reader *r);

#endif
