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

#include "protocol/to_server.h"

enum { SERIES_MAX = 128, SERIES_RESEND = 32 };

struct series {
    struct progress_message *at[SERIES_MAX]; /* owned; their seq is 0 until they are sent */
    size_t n;
    size_t next;            /* the first that this connection has not carried yet */
    int64_t seq;            /* of the newest that was ever sent */
    uint64_t stride, count; /* one in `stride` (0 = 1) is kept for good; added since it changed */
};

/* Adds the newest, without a number yet. */
void series_add(struct series *s, const struct progress_message *m);
/* The next to send, numbered; NULL when there is none. Valid until the next call. */
const struct progress_message *series_take(struct series *s);
/* A new connection. The server says the number of the newest that it has; when it
 * does not say, -1, it gets the newest again. */
void series_rewind(struct series *s, int64_t known);
void series_done(struct series *s);

#endif
