/* Replies that can be sent in part, as the request's Range asks for. */
#ifndef HTTP_CONTENT_H
#define HTTP_CONTENT_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct reply;

/* Something that can be read at any position, such as a file or several files in a row. */
struct reply_source {
    uint64_t size;
    /* Reads up to n bytes at `at`; returns how many, at least 1, or -1, which breaks off the
     * reply so that the client notices. */
    ssize_t (*read)(void *ctx, uint64_t at, char *buf, size_t n);
    void (*done)(void *ctx); /* called once, also when nothing was read; may be NULL */
    void *ctx;
};

/* Replies with the whole source, or with the part that the request's Range asks for (206, or
 * 416 when there is no such part). */
void reply_source(struct reply *r, const char *type, const struct reply_source *source);

#endif
