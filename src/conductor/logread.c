/* Owns the mapping of offsets to log files; logfile.h has the rule. The writer may
 * rename `log` at any moment: which part it was is sure only if the next higher
 * number still does not exist after it was opened. */
#include "conductor/logread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/str.h"

/* The numbers of the rotated files that are there: first to last, 0 = none. */
struct parts {
    int64_t first, last;
};

static int failed(struct err *err)
{
    return err_set(err, ERR_IO, "cannot read the log: %s", strerror(errno));
}

static int list_parts(int dir, struct parts *out, struct err *err)
{
    struct parts p = {0, 0};
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return failed(err);
    }
    const struct dirent *e;
    int64_t n;
    while ((e = readdir(d))) {
        if (strncmp(e->d_name, "log.", 4) != 0 ||
            str_parse_int(e->d_name + 4, 1, INT64_MAX - 1, &n, NULL) < 0)
            continue;
        p.first = !p.first || n < p.first ? n : p.first;
        p.last = n > p.last ? n : p.last;
    }
    closedir(d);
    *out = p;
    return 0;
}

static int open_part(int dir, int64_t part)
{
    char name[32];
    snprintf(name, sizeof name, "log.%lld", (long long)part);
    return openat(dir, name, O_RDONLY | O_CLOEXEC);
}

/* Opens the current file, sure to be part `part`; -1 with errno = EAGAIN when it
 * was rotated away meanwhile. */
static int open_current(int dir, int64_t part)
{
    int fd = openat(dir, "log", O_RDONLY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT) {
        /* Between the rename and the new file. */
        AUTO_CLOSE int renamed = open_part(dir, part);
        errno = renamed >= 0 ? EAGAIN : ENOENT;
        return -1;
    }
    AUTO_CLOSE int newer = fd < 0 ? -1 : open_part(dir, part);
    if (newer < 0)
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

/* Opens the part (from 1) that holds the offset, moving the offset to the oldest
 * part that is left; *start is the offset of its first byte. Returns -1 with errno
 * = ENOENT when the offset is behind the end. */
static int open_at(int dir, int64_t max, int64_t *offset, int64_t *start, struct err *err)
{
    for (;;) {
        struct parts p;
        if (list_parts(dir, &p, err) < 0)
            return -1;
        int64_t part = *offset / max + 1;
        if (p.first && part < p.first) {
            part = p.first;
            *offset = (p.first - 1) * max;
        }
        *start = (part - 1) * max;
        errno = ENOENT;
        if (part > p.last + 1)
            return -1;
        int fd = part <= p.last ? open_part(dir, part) : open_current(dir, part);
        if (fd >= 0 || (errno != EAGAIN && !(errno == ENOENT && part <= p.last)))
            return fd;
    }
}

int logread(int dir, int64_t max, int64_t *offset, char *bytes, size_t n, size_t *got,
            struct err *err)
{
    size_t done = 0;
    int64_t at = *offset, start;
    while (done < n) {
        int64_t next = at + (int64_t)done, asked = next;
        AUTO_CLOSE int fd = open_at(dir, max, &next, &start, err);
        if (fd < 0 && errno != ENOENT)
            return failed(err);
        if (fd < 0)
            break;
        if (next != asked) {
            /* Removed while it was read: give what there is so far. */
            if (done)
                break;
            at = next;
        }
        ssize_t r = pread(fd, bytes + done, n - done, next - start);
        if (r < 0)
            return failed(err);
        if (r == 0)
            break;
        done += (size_t)r;
    }
    *offset = at;
    *got = done;
    return 0;
}

int logread_span(int dir, int64_t max, int64_t *first, int64_t *end, struct err *err)
{
    for (;;) {
        struct parts p;
        struct stat st = {0};
        if (list_parts(dir, &p, err) < 0)
            return -1;
        AUTO_CLOSE int fd = open_current(dir, p.last + 1);
        if (fd < 0 && errno == EAGAIN)
            continue;
        if (fd < 0 && errno != ENOENT)
            return failed(err);
        if (fd >= 0 && fstat(fd, &st) < 0)
            return failed(err);
        *first = p.first ? (p.first - 1) * max : 0;
        *end = p.last * max + st.st_size;
        return 0;
    }
}
