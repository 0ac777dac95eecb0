/* Owns access to cgroup files. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

/* A job that makes groups of its own may nest them; deeper than this is an
 * attack on our stack. */
enum { DEPTH_MAX = 16 };

void group_init(struct group_set *s, const struct launch_spec *spec)
{
    s->n = spec->cgroups.n;
    s->at = xcalloc(s->n, sizeof *s->at);
    for (size_t i = 0; i < s->n; i++)
        s->at[i] = (struct group){spec->cgroups.at[i].path, spec->cgroups.at[i].procs, false};
}

void group_done(struct group_set *s)
{
    free(s->at);
    *s = (struct group_set){0};
}

static int open_in(const char *path, const char *file, int flags)
{
    AUTO_CLOSE int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return dir < 0 ? -1 : openat(dir, file, flags | O_CLOEXEC);
}

int group_join(const struct group *g)
{
    /* Version 1 has `tasks`, which moves one thread without waiting for all
     * others in the system as cgroup.procs does: 0.1 ms instead of 10. */
    AUTO_CLOSE int fd = open_in(g->path, "tasks", O_WRONLY);
    if (fd < 0)
        fd = open_in(g->path, g->procs, O_WRONLY);
    if (fd < 0)
        return errno;
    return write(fd, "0", 1) == 1 ? 0 : errno;
}

int group_open_v2(const struct group *g)
{
    struct statfs fs;
    if (statfs(g->path, &fs) < 0 || fs.f_type != CGROUP2_SUPER_MAGIC)
        return -1;
    return open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int open_joined(const struct group_set *s, const char *file, int flags)
{
    errno = ENOENT;
    for (size_t i = 0; i < s->n; i++) {
        int fd = s->at[i].joined ? open_in(s->at[i].path, file, flags) : -1;
        if (fd >= 0)
            return fd;
    }
    return -1;
}

int group_open(const struct group_set *s, const char *file)
{
    return open_joined(s, file, O_RDONLY);
}

bool group_has(const struct group_set *s, const char *file)
{
    AUTO_CLOSE int fd = open_joined(s, file, O_PATH);
    return fd >= 0;
}

static int read_text(int fd, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got;
    while (n < size - 1 && (got = read(fd, text + n, size - 1 - n)) > 0)
        n += (size_t)got;
    text[n] = '\0';
    return 0;
}

int group_read(const struct group_set *s, const char *file, char *text, size_t size)
{
    AUTO_CLOSE int fd = open_joined(s, file, O_RDONLY);
    return fd < 0 ? -1 : read_text(fd, text, size);
}

int group_write(const struct group_set *s, const char *file, const char *text)
{
    AUTO_CLOSE int fd = open_joined(s, file, O_WRONLY);
    if (fd < 0)
        return errno;
    return write(fd, text, strlen(text)) < 0 ? errno : 0;
}

static void add_pids(int dir, struct pid_list *out)
{
    AUTO_CLOSE int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    char text[4096];
    pid_t pid = 0; /* a read may end within a number; processes of other namespaces are 0 */
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text)) > 0;) {
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
            } else if (pid) {
                VEC_PUSH(out, pid);
                pid = 0;
            }
        }
    }
}

static void add_below(int dir, unsigned depth, struct pid_list *out)
{
    add_pids(dir, out);
    DIR *d = depth < DEPTH_MAX ? fdopendir(dup(dir)) : NULL;
    if (!d)
        return;
    const struct dirent *e;
    while ((e = readdir(d))) {
        if (e->d_type != DT_DIR || *e->d_name == '.')
            continue;
        AUTO_CLOSE int sub = openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (sub >= 0)
            add_below(sub, depth + 1, out);
    }
    closedir(d);
}

void group_find_pids(const struct group_set *s, struct pid_list *out)
{
    for (size_t i = 0; i < s->n; i++) {
        AUTO_CLOSE int dir =
            s->at[i].joined ? open(s->at[i].path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
        if (dir >= 0)
            add_below(dir, 0, out);
    }
}
