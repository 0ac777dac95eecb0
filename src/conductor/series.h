/* The progress messages of a job on their way to the server: bounded, in order, and kept for a
 * while after sending, so that the next server gets what the previous one did not read.
 *
 * A message gets its number when it is first sent and keeps it, so the numbers have no gaps and
 * a server knows which ones it has. When the series is full because the server is away, every
 * second message is dropped, and from then on only every second one is kept. After a long
 * absence the curve is coarser but has no hole, and the newest message is always there. */
#ifndef CONDUCTOR_SERIES_H
#define CONDUCTOR_SERIES_H

#include <stddef.h>
#include <stdint.h>

#include "protocol/to_server.h"

enum { SERIES_MAX = 128, SERIES_RESEND = 32 };

struct series {
    struct progress_message *at[SERIES_MAX]; /* owned; their seq is 0 until they are sent */
    size_t n;
    size_t next;            /* the first that was not sent on this connection */
    int64_t seq;            /* of the newest message that was ever sent */
    uint64_t stride, count; /* one in `stride` (0 = 1) is kept; number added since it changed */
};

/* Adds the newest message, without a number yet. */
void series_add(struct series *s, const struct progress_message *m);
/* The next message to send, numbered; NULL if there is none. Valid until the next call. */
const struct progress_message *series_take(struct series *s);
/* A new connection. `known` is the number of the newest message that the server has; -1 = it did
 * not say, and gets the newest again. */
void series_rewind(struct series *s, int64_t known);
void series_done(struct series *s);

#endif
