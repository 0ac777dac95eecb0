/* The end of a log: where its last lines begin, and what a terminal shows of them. */
#ifndef SERVER_API_LOG_TAIL_H
#define SERVER_API_LOG_TAIL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* A log at the time of a request. */
struct log_span {
    int dir; /* of the attempt; -1 = no log yet */
    int64_t first, end;
};

/* The offset at which the last lines begin, searched for in the last 64 MiB. */
int log_tail_find(const struct log_span *l, int64_t lines, int64_t *out, struct err *err);

/* The most lines that log_tail_show() takes. */
enum { LOG_TAIL_SHOWN = 10000 };
/* Adds the last lines as a terminal shows them: a bar that was drawn a million times is one
 * line. It reads at most the last 64 MiB, and keeps 64 KiB of a line and 8 MiB in all. */
int log_tail_show(const struct log_span *l, unsigned lines, struct str *out, struct err *err);

#endif
