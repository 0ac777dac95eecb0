/* The terminal: its size, and a full-screen mode that is always left again. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct terminal_size {
    unsigned rows, columns;
};

/* Whether it is a terminal that understands escape sequences. */
bool terminal_obeys(FILE *out);

/* False, with *out untouched, when it is not a terminal or its size is unknown. */
bool terminal_get_size(int fd, struct terminal_size *out);

/* Columns for text on this stream: the terminal's, else $COLUMNS, else 0, which is unlimited. */
size_t terminal_width(FILE *out);

/* Takes over the terminal: alternate screen, no cursor, keys as they are pressed. However the
 * process ends, except by SIGKILL, the terminal is restored. */
int terminal_enter(struct err *err);
void terminal_leave(void);

#endif
