/* Searches a whole log, some megabytes at a time. */
#ifndef SERVER_API_LOG_SEARCH_H
#define SERVER_API_LOG_SEARCH_H

#include "server/api/log_tail.h"

enum { LOG_FOUND_MAX = 1000, LOG_SEARCH_TEXT = 200 };

struct log_found {
    size_t n;
    int64_t at[LOG_FOUND_MAX]; /* where lines begin that have the text, ascending */
    int64_t next;              /* where to go on; -1 = all was searched */
};

/* Looks for the text (1 to LOG_SEARCH_TEXT bytes; the case of ASCII letters does not matter) from
 * the offset on, which is best the beginning of a line. Stops after 8 MiB, so that others can be
 * served in between, or when *out is full. */
int log_search(const struct log_span *l, const char *text, int64_t from, struct log_found *out,
               struct err *err);

#endif
