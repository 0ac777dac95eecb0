/* What server and conductor exchange where an engine lies between them: the standard streams of
 * `trainyard-conductor link`, which runs next to the conductor. In both directions there are
 * messages, one a line, as in message.h, and parts of the job's log:
 *
 *     log OFFSET COUNT        and then COUNT bytes
 *
 * From the server, with COUNT 0: send the log from this offset on. From the other side, with
 * COUNT 0: the job is over, and this is the end of its log. */
#ifndef PROTOCOL_RELAY_H
#define PROTOCOL_RELAY_H

#include <stdint.h>

#include "base/str.h"

/* No part of a log is longer. */
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
/* The next bytes that came. */
void relay_add(struct relay *r, const char *bytes, size_t n);
/* Takes the next item, valid until the next call: 1. 0 if none is complete yet; -1 if the bytes
 * are not what is exchanged here. */
int relay_take(struct relay *r, struct relay_item *out);

/* Adds the line before a part of the log. */
void relay_add_log(struct str *out, int64_t offset, size_t n);

#endif
