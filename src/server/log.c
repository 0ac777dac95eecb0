/* Owns the format of the server's log lines. Under systemd, the journal adds the time. */
#include "server/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"

static bool silent;

void log_silence(bool on)
{
    silent = on;
}

static void __attribute__((format(printf, 2, 0)))
write_line(const char *level, const char *fmt, va_list args)
{
    char text[1024], at[32] = "";
    time_t now = clock_read_wall() / USEC_PER_SEC;
    struct tm tm;
    if (silent)
        return;
    if (!getenv("JOURNAL_STREAM") && localtime_r(&now, &tm))
        strftime(at, sizeof at, "%Y-%m-%dT%H:%M:%S ", &tm);
    vsnprintf(text, sizeof text, fmt, args);
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
    fprintf(stderr, "%slevel=%s %s\n", at, level, text);
}

void log_info(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line("info", fmt, args);
    va_end(args);
}

void log_warning(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    write_line("warning", fmt, args);
    va_end(args);
}
