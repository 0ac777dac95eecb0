/* Owns writing the log. A rotation is one rename and one unlink, so a crash at any point
 * leaves all bytes in files whose names give their order. protocol/logread.c reads them. */
#include "protocol/logfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "protocol/logread.h"

static int open_log(int dir)
{
    return fd_open_regular(dir, "log", O_WRONLY | O_CREAT | O_APPEND, 0600);
}

int logfile_open(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err)
{
    struct stat st;
    int fd = open_log(dir);
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_set(err, ERR_IO, "cannot open the log: %s", fd_why(errno));
    *l = (struct logfile){.dir = dir, .fd = fd, .max = max, .keep = keep, .size = st.st_size};
    return 0;
}

int logfile_resume(struct logfile *l, int dir, int64_t max, int64_t keep, struct err *err)
{
    int64_t first, end;
    if (logfile_open(l, dir, max, keep, err) < 0)
        return -1;
    if (logread_span(dir, max, &first, &end, err) < 0) {
        logfile_done(l);
        return -1;
    }
    l->rotated = (end - l->size) / max;
    return 0;
}

void logfile_done(struct logfile *l)
{
    if (l->fd >= 0)
        close(l->fd);
    l->fd = -1;
}

int64_t logfile_bytes(const struct logfile *l)
{
    return l->rotated * l->max + l->size;
}

/* Returns 0 or an errno. If it fails between the two steps, the next call continues. */
static int rotate(struct logfile *l)
{
    char name[32];
    if (l->fd >= 0) {
        snprintf(name, sizeof name, "log.%lld", (long long)l->rotated + 1);
        if (renameat(l->dir, "log", l->dir, name) < 0)
            return errno;
        close(l->fd);
        l->fd = -1;
        l->rotated++;
        l->size = 0;
        snprintf(name, sizeof name, "log.%lld", (long long)(l->rotated - l->keep));
        if (l->rotated > l->keep)
            unlinkat(l->dir, name, 0);
    }
    l->fd = open_log(l->dir);
    return l->fd < 0 ? errno : 0;
}

/* Writes what it can; returns the number of bytes written. */
static size_t write_some(struct logfile *l, const char *bytes, size_t n)
{
    size_t done = 0;
    while (done < n) {
        if ((l->size >= l->max || l->fd < 0) && (l->why = rotate(l)))
            break;
        int64_t room = l->max - l->size;
        size_t part = (int64_t)(n - done) < room ? n - done : (size_t)room;
        ssize_t w = write(l->fd, bytes + done, part);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0) {
            l->why = w < 0 ? errno : ENOSPC;
            break;
        }
        done += (size_t)w;
        l->size += w;
    }
    if (done)
        l->in_line = bytes[done - 1] != '\n';
    return done;
}

/* Writes a line of our own completely or not at all, unless a rotation falls inside it. */
static bool write_line(struct logfile *l, const char *text)
{
    char line[512];
    int64_t size = l->size, rotated = l->rotated;
    bool in_line = l->in_line;
    int n = snprintf(line, sizeof line, "%s[trainyard: %s]\n", in_line ? "\n" : "", text);
    if (n >= (int)sizeof line) {
        n = sizeof line - 1;
        memcpy(line + n - 2, "]\n", 3);
    }
    if (write_some(l, line, (size_t)n) == (size_t)n)
        return true;
    if (l->rotated == rotated && l->fd >= 0 && ftruncate(l->fd, size) == 0) {
        l->size = size;
        l->in_line = in_line;
    }
    return false;
}

/* Adds a line about dropped bytes; false if even that does not fit. */
static bool mark(struct logfile *l)
{
    char text[160];
    if (!l->unmarked)
        return true;
    snprintf(text, sizeof text, "%lld bytes of output were dropped here: %s",
             (long long)l->unmarked, strerror(l->why));
    if (!write_line(l, text))
        return false;
    l->unmarked = 0;
    return true;
}

void logfile_write(struct logfile *l, const char *bytes, size_t n)
{
    size_t done = mark(l) ? write_some(l, bytes, n) : 0;
    l->dropped += (int64_t)(n - done);
    l->unmarked += (int64_t)(n - done);
}

int logfile_append(struct logfile *l, const char *bytes, size_t n, struct err *err)
{
    if (write_some(l, bytes, n) == n)
        return 0;
    return err_set(err, ERR_IO, "cannot write the log: %s", strerror(l->why));
}

int logfile_skip(struct logfile *l, int64_t offset, struct err *err)
{
    char name[32];
    for (int64_t part = l->rotated; part > 0 && part > l->rotated - l->keep - 1; part--) {
        snprintf(name, sizeof name, "log.%lld", (long long)part);
        unlinkat(l->dir, name, 0);
    }
    /* An empty file before it marks where the next one begins. */
    l->rotated = offset / l->max - 1;
    if (offset % l->max || l->rotated < 0 || ftruncate(l->fd, 0) < 0)
        return err_set(err, ERR_INVALID, "cannot continue a log at byte %lld", (long long)offset);
    l->size = 0;
    l->why = rotate(l);
    return l->why ? err_set(err, ERR_IO, "cannot write the log: %s", strerror(l->why)) : 0;
}

void logfile_note(struct logfile *l, const char *fmt, ...)
{
    char text[480];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (mark(l))
        write_line(l, text);
}

void logfile_end(struct logfile *l)
{
    mark(l);
}
