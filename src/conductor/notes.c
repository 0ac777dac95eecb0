/* Owns conductor.log. Lines are "TIME job=N attempt=N TEXT". */
#include "conductor/notes.h"
#include "base/clock.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/str.h"

enum { FILE_MAX = 64 * 1024 };

void notes_init(struct notes *n, int dir)
{
    *n = (struct notes){.dir = dir, .fd = -1};
}

void notes_done(struct notes *n)
{
    if (n->fd >= 0)
        close(n->fd);
    n->fd = -1;
}

void notes_clean(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = '?';
    for (char *p = text + str_valid_utf8(text); *p; p += str_valid_utf8(p))
        *p = '?';
}

void notes_add(struct notes *n, const char *fmt, ...)
{
    char text[NOTES_TEXT], when[32];
    time_t now = clock_read_wall() / USEC_PER_SEC;
    struct tm utc;
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    notes_clean(text);
    if (n->n < NOTES_MAX)
        memcpy(n->text[n->n++], text, sizeof text);
    if (n->written > FILE_MAX)
        return;
    if (n->fd < 0)
        n->fd = fd_open_regular(n->dir, "conductor.log", O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (n->fd < 0)
        return;
    gmtime_r(&now, &utc);
    strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", &utc);
    int written = dprintf(n->fd, "%s job=%lld attempt=%lld %s\n", when, (long long)n->job,
                          (long long)n->attempt, text);
    n->written += written > 0 ? written : 0;
}
