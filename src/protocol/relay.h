/* The stream between server and conductor if an engine is between them: the standard streams of
 * `trainyard-conductor link`, which runs next to the conductor. Both directions carry messages, one
 * per line as in message.h, and parts of the job's log:
 *
 *     log OFFSET COUNT        followed by COUNT bytes
 *
 * From the server with COUNT 0: send the log from this offset. From the other side with COUNT 0:
 * the job is over, and this is the end of its log. */
#ifndef PROTOCOL_RELAY_H
#define PROTOCOL_RELAY_H

#include <stdint.h>

#include "base/str.h"

/* Maximum length of one part. */
#define RELAY_PART_MAX 32768

enum relay_kind { RELAY_MESSAGE, RELAY_LOG };

struct relay_item {
    enum relay_kind kind;
    const char *bytes; /* a line without its newline, or part of the log */
    size_t n;
    int64_t offset; /* of the log */
};

struct relay {
    struct str in;
    size_t taken;
};

void relay_done(struct relay *r);
/* Adds received bytes. */
void relay_add(struct relay *r, const char *bytes, size_t n);
/* Returns 1 and the next item, valid until the next call; 0 if none is complete yet; -1 if the
 * stream is invalid. */
int relay_take(struct relay *r, struct relay_item *out);

/* Appends the line that precedes a part of the log. */
void relay_add_log(struct str *out, int64_t offset, size_t n);

#endif
