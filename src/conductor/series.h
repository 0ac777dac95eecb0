/* The progress of a job on its way to the server: paced, bounded, in order, and
 * kept for a while after it was sent, so that a server that died with messages
 * unread gets them again.
 *
 * A message gets its number when it is sent for the first time and keeps it, so
 * that the numbers have no gaps and a server can tell what it has already. When
 * the series is full because the server is away, every second one is dropped, and
 * only every second one is kept from then on: a long absence leaves a coarser
 * curve, never a hole, and the newest is always there. */
#ifndef CONDUCTOR_SERIES_H
#define CONDUCTOR_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/time.h"

enum { SERIES_MAX = 128, SERIES_RESEND = 32 };

struct series_item {
    uint64_t seq; /* 0 = was never sent */
    usec_t at;    /* wall time */
    char *body;   /* JSON members, owned */
};

struct series {
    struct series_item at[SERIES_MAX];
    size_t n;
    size_t next;            /* the first that this connection has not carried yet */
    uint64_t seq;           /* of the newest that was ever sent */
    uint64_t stride, count; /* one in `stride` (0 = 1) is kept for good; added since it changed */
};

/* Adds the newest; takes the body. */
void series_add(struct series *s, usec_t at, char *body);
/* The next to send, numbered; NULL when there is none. Valid until the next call. */
const struct series_item *series_take(struct series *s);
/* A new connection. The server says the number of the newest that it has; when it
 * does not say, -1, it gets the newest again. */
void series_rewind(struct series *s, int64_t known);
void series_done(struct series *s);

#endif
