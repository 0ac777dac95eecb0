/* The terminal: how large it is, and a full-screen mode that is always left again. */
#ifndef CLI_TERMINAL_H
#define CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

struct terminal_size {
    unsigned rows, columns;
};

/* It is a terminal, and one that understands sequences. */
bool terminal_obeys(FILE *out);

/* False, with *out untouched, when it is no terminal or does not say. */
bool terminal_get_size(int fd, struct terminal_size *out);

/* Columns for text on this stream: the terminal's, else $COLUMNS when that is set,
 * else 0: any number. */
size_t terminal_width(FILE *out);

/* Takes the terminal over: another screen, no cursor, keys as they are pressed. At
 * any end of the process but SIGKILL the terminal is as before. */
int terminal_enter(struct err *err);
void terminal_leave(void);

#endif
