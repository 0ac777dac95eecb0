/* Lines out of a stream of bytes, for both ends of the connection. Bounded: a line that
 * is too long is an error, and nothing is kept of those that were taken. */
#ifndef PROTOCOL_LINES_H
#define PROTOCOL_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* A line is never longer, its newline included. */
#define MESSAGE_MAX_BYTES 65536

struct lines {
    struct str in;
    size_t taken; /* bytes of lines that were taken */
};

void lines_done(struct lines *l);
/* The next bytes that came. */
void lines_add(struct lines *l, const char *bytes, size_t n);
/* Takes the next line, without its newline, valid until the next call: 1. 0 when none is
 * whole yet; -1 when it is too long. */
int lines_take(struct lines *l, const char **line, size_t *n);
/* Whether a whole line is there. */
bool lines_wait(const struct lines *l);

#endif
