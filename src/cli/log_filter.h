/* A job's log on its way to a terminal. Programs that train draw bars and colour
 * their lines, so carriage returns, backspaces, colours and "clear to the end of the
 * line" pass; whatever else a terminal would obey (titles, the clipboard, the cursor,
 * questions that it answers by itself) is shown instead. Works on pieces of any size.
 * Pure. */
#ifndef CLI_LOG_FILTER_H
#define CLI_LOG_FILTER_H

#include <stddef.h>

#include "base/str.h"

/* Zeroed is ready to use. */
struct log_filter {
    char held[32]; /* the beginning of a character or of an escape sequence */
    size_t n;
};

/* Appends what may pass of the next bytes. */
void log_filter_add(struct log_filter *f, const char *bytes, size_t n, struct str *out);
/* Appends what was held back: there is no more. */
void log_filter_end(struct log_filter *f, struct str *out);

#endif
