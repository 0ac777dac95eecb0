/* The server's log on standard error: one line per message, "level=info job=12 state=done". */
#ifndef SERVER_LOG_H
#define SERVER_LOG_H

#include <stdbool.h>

/* For tests: writes nothing while it is on. */
void log_silence(bool on);

void log_info(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
