/* Replies that can be given in part or not at all, as the request's Range, If-Range
 * and If-None-Match ask for. */
#ifndef HTTP_CONTENT_H
#define HTTP_CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reply;

/* Something that can be read at any position, such as a file or several files
 * behind each other. */
struct reply_source {
    uint64_t size;
    /* Reads up to n bytes at `at`; returns how many, at least 1, or -1, which breaks
     * the reply off so that the client notices. */
    ssize_t (*read)(void *ctx, uint64_t at, char *buf, size_t n);
    void (*done)(void *ctx); /* called once, also when nothing was read; may be NULL */
    void *ctx;
};

/* All of the source, or the part that the request's Range asks for (206, 416).
 * `etag` may be NULL. */
void reply_source(struct reply *r, const char *type, const struct reply_source *source,
                  const char *etag);
/* The same for the first `size` bytes of a file; takes the descriptor. */
void reply_file(struct reply *r, const char *type, int fd, uint64_t size, const char *etag);
/* Bytes that live as long as the program, with the tag of http_etag: If-None-Match
 * is answered with 304, a Range with 206 or 416. */
void reply_static(struct reply *r, const char *type, const char *bytes, size_t n, const char *etag);

#endif
