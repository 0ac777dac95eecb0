/* Owns the mapping of offsets to log files; logfile.h has the rule. The writer may rotate at any
 * moment. A listing is valid if `log` is the same file afterwards as before, because then
 * nothing was rotated in between. (The file is held open, so its inode cannot be reused.) */
#include "protocol/logread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/str.h"

enum { TRIES = 1000 };

struct view {
    int current;         /* the file `log`, part number last + 1; -1 = none */
    int64_t first, last; /* numbers of the rotated files; 0 = none */
    int64_t next;        /* the first existing one from the wanted part on; 0 = none */
};

static int failed(struct err *err)
{
    return err_set(err, ERR_IO, "cannot read the log: %s", strerror(errno));
}

/* Opens a part of the log, which must be a regular file. -1 and errno; ENOENT if there is none. */
static int open_regular(int dir, const char *name)
{
    int fd = fd_open_regular(dir, name, O_RDONLY, 0);
    if (fd < 0 && fd_is_not_regular(errno))
        errno = ENOENT;
    return fd;
}

static int list_parts(int dir, int64_t max, int64_t from, struct view *v, struct err *err)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        failed(err);
        if (fd >= 0)
            close(fd);
        return -1;
    }
    const struct dirent *e;
    int64_t n;
    v->first = v->last = v->next = 0;
    while ((e = readdir(d))) {
        if (strncmp(e->d_name, "log.", 4) != 0 ||
            str_parse_int(e->d_name + 4, 1, INT64_MAX / max - 2, &n, NULL) < 0)
            continue;
        v->first = !v->first || n < v->first ? n : v->first;
        v->last = n > v->last ? n : v->last;
        if (n >= from && (!v->next || n < v->next))
            v->next = n;
    }
    closedir(d);
    return 0;
}

static bool is_still_current(int dir, int fd)
{
    struct stat now, then;
    if (fstatat(dir, "log", &now, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(now.st_mode))
        return fd < 0;
    return fd >= 0 && fstat(fd, &then) == 0 && now.st_ino == then.st_ino;
}

/* The caller closes v->current. */
static int open_view(int dir, int64_t max, int64_t from, struct view *v, struct err *err)
{
    for (unsigned i = 0; i < TRIES; i++) {
        AUTO_CLOSE int fd = open_regular(dir, "log");
        if (fd < 0 && errno != ENOENT)
            return failed(err);
        if (list_parts(dir, max, from, v, err) < 0)
            return -1;
        if (is_still_current(dir, fd)) {
            v->current = fd_take(&fd);
            return 0;
        }
    }
    return err_set(err, ERR_IO, "cannot read the log: it keeps being rotated");
}

static int open_part(int dir, int64_t part)
{
    char name[32];
    snprintf(name, sizeof name, "log.%lld", (long long)part);
    return open_regular(dir, name);
}

/* Opens the file that holds the offset, after moving the offset to the oldest remaining byte if
 * necessary; *start is the offset of the file's first byte. *fd = -1: the offset is past the
 * end. *last: no other file follows. */
static int open_at(int dir, int64_t max, int64_t *offset, int64_t *start, bool *last, int *fd,
                   struct err *err)
{
    for (unsigned missing = 0;;) {
        struct view v;
        int64_t part = *offset / max + 1;
        if (open_view(dir, max, part, &v, err) < 0)
            return -1;
        AUTO_CLOSE int current = v.current;
        if (v.next > part) {
            part = v.next;
            *offset = (part - 1) * max;
        }
        *start = (part - 1) * max;
        *last = part > v.last;
        if (part > v.last) {
            *fd = part == v.last + 1 ? fd_take(&current) : -1;
            return 0;
        }
        *fd = open_part(dir, part);
        if (*fd >= 0)
            return 0;
        if (errno != ENOENT)
            return failed(err);
        if (++missing > TRIES)
            return err_set(err, ERR_IO, "cannot read the log: log.%lld is not a file",
                           (long long)part);
    }
}

int logread(int dir, int64_t max, int64_t *offset, char *bytes, size_t n, size_t *got,
            struct err *err)
{
    size_t done = 0;
    int64_t at = *offset;
    while (done < n) {
        int64_t next = at + (int64_t)done, asked = next, start;
        bool last;
        AUTO_CLOSE int fd = -1;
        if (open_at(dir, max, &next, &start, &last, &fd, err) < 0)
            return -1;
        /* Removed while it was read: return what we have so far. */
        if (fd < 0 || (next != asked && done))
            break;
        if (next != asked)
            at = next;
        size_t room = (size_t)(start + max - next), left = n - done;
        ssize_t r = pread(fd, bytes + done, left < room ? left : room, next - start);
        if (r < 0)
            return failed(err);
        if (r == 0 && (last || done))
            break;
        if (r == 0)
            at = start + max; /* the rest of this part is lost */
        done += (size_t)r;
    }
    *offset = at;
    *got = done;
    return 0;
}

int logread_span(int dir, int64_t max, int64_t *first, int64_t *end, struct err *err)
{
    struct view v;
    struct stat st = {0};
    if (open_view(dir, max, 1, &v, err) < 0)
        return -1;
    AUTO_CLOSE int fd = v.current;
    if (fd >= 0 && fstat(fd, &st) < 0)
        return failed(err);
    *first = v.first ? (v.first - 1) * max : 0;
    *end = v.last * max + (st.st_size < max ? st.st_size : max);
    return 0;
}
