/* Filters a job's log for a terminal. Training programs draw bars and colour their lines, so
 * carriage returns, backspaces, colours and "clear to the end of the line" pass. Everything
 * else that a terminal would obey (titles, the clipboard, the cursor, queries) is shown as
 * text. Works on pieces of any size. Pure. */
#ifndef CLI_LOG_FILTER_H
#define CLI_LOG_FILTER_H

#include <stddef.h>

#include "base/str.h"

/* Ready to use when zeroed. */
struct log_filter {
    char held[32]; /* the beginning of a character or of an escape sequence */
    size_t n;
};

/* Appends the next bytes, filtered. */
void log_filter_add(struct log_filter *f, const char *bytes, size_t n, struct str *out);
/* Appends what was held back, at the end of the log. */
void log_filter_end(struct log_filter *f, struct str *out);

#endif
