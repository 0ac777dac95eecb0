/* The head of an HTTP response, on a connection that is then used for other bytes. */
#ifndef RUNTIME_REMOTE_HEAD_H
#define RUNTIME_REMOTE_HEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct http_head {
    struct str text; /* read so far */
    int status;      /* 0 until the head is complete */
};

/* Takes the next bytes; *used is how many belong to the head. Fails on bytes that are not a
 * head, or on one that is too long. */
int head_feed(struct http_head *h, const char *bytes, size_t n, size_t *used, struct err *err);
void head_done(struct http_head *h);

#endif
