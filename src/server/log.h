/* The server's own log: one line a message on standard error, key=value. */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include <stdbool.h>

/* "level=info text"; the text has its own keys: "job=12 state=done code=0". */
/* For tests: nothing is written while it is on. */
void log_silence(bool on);

void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
