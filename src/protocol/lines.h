/* Splits a stream of bytes into lines, for both ends of the connection. Memory is bounded: a
 * line that is too long is an error, and returned lines are dropped. */
#ifndef PROTOCOL_LINES_H
#define PROTOCOL_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Maximum length of a line, including its newline. */
#define MESSAGE_MAX_BYTES 65536

struct lines {
    struct str in;
    size_t taken; /* bytes of lines that were returned */
};

void lines_done(struct lines *l);
/* Adds received bytes. */
void lines_add(struct lines *l, const char *bytes, size_t n);
/* Returns 1 and the next line, without its newline, valid until the next call; 0 if no line is
 * complete yet; -1 if the line is too long. */
int lines_take(struct lines *l, const char **line, size_t *n);
/* Whether a complete line is available. */
bool lines_wait(const struct lines *l);

#endif
