/* Owns access to cgroup files. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/mem.h"

/* A job may nest groups of its own. A deeper tree is an attack on our stack. */
enum { DEPTH_MAX = 16 };

static struct group open_group(const struct launch_cgroup *from)
{
    struct group g = {.path = from->path, .procs = from->procs};
    struct statfs fs;
    g.fd = open(g.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (g.fd < 0)
        g.fd = -errno;
    else
        g.v2 = fstatfs(g.fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC;
    return g;
}

void group_init(struct group_set *s, const struct launch_spec *spec)
{
    *s = (struct group_set){.n = spec->cgroups.n};
    s->at = xcalloc(s->n, sizeof *s->at);
    for (size_t i = 0; i < s->n; i++)
        s->at[i] = open_group(&spec->cgroups.at[i]);
}

void group_done(struct group_set *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].fd >= 0)
            close(s->at[i].fd);
    free(s->at);
    *s = (struct group_set){0};
}

int group_join(const struct group *g)
{
    if (g->fd < 0)
        return -g->fd;
    /* Version 1 has `tasks`, which moves one thread. Unlike cgroup.procs it does not wait for
     * all other threads in the system: 0.1 ms instead of 10 ms. */
    AUTO_CLOSE int fd = openat(g->fd, g->v2 ? g->procs : "tasks", O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    return write(fd, "0", 1) == 1 ? 0 : errno;
}

static int open_joined(struct group_set *s, enum group_version version, const char *file, int flags)
{
    errno = ENOENT;
    for (size_t i = 0, k = s->last; i < s->n; i++, k = (k + 1) % s->n) {
        const struct group *g = &s->at[k];
        if (!g->joined || (version && (version == GROUP_V2) != g->v2))
            continue;
        int fd = openat(g->fd, file, flags | O_CLOEXEC);
        if (fd < 0)
            continue;
        s->last = k;
        return fd;
    }
    return -1;
}

int group_open(struct group_set *s, enum group_version version, const char *file)
{
    return open_joined(s, version, file, O_RDONLY);
}

bool group_has(struct group_set *s, const char *file)
{
    AUTO_CLOSE int fd = open_joined(s, GROUP_ANY, file, O_PATH);
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

int group_read(struct group_set *s, const char *file, char *text, size_t size)
{
    AUTO_CLOSE int fd = open_joined(s, GROUP_ANY, file, O_RDONLY);
    return fd < 0 ? -1 : read_text(fd, text, size);
}

int group_write(struct group_set *s, const char *file, const char *text)
{
    AUTO_CLOSE int fd = open_joined(s, GROUP_ANY, file, O_WRONLY);
    if (fd < 0)
        return errno;
    return write(fd, text, strlen(text)) < 0 ? errno : 0;
}

static void add_pids(int dir, struct pid_list *out)
{
    AUTO_CLOSE int fd = openat(dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
    char text[4096];
    pid_t pid = 0; /* a read may end inside a number; processes of other namespaces are 0 */
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

/* The link count of a cgroup directory is two plus its subdirectories. */
static bool has_groups_below(int dir)
{
    struct stat st;
    return fstat(dir, &st) < 0 || st.st_nlink != 2;
}

static void add_below(int dir, unsigned depth, struct pid_list *out)
{
    add_pids(dir, out);
    if (depth == DEPTH_MAX || !has_groups_below(dir))
        return;
    DIR *d = fdopendir(openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
    for (size_t i = 0; i < s->n; i++)
        if (s->at[i].joined)
            add_below(s->at[i].fd, 0, out);
}

bool group_is_empty(struct group_set *s)
{
    struct pid_list left = {0};
    char events[256];
    AUTO_CLOSE int fd = open_joined(s, GROUP_V2, "cgroup.events", O_RDONLY);
    if (fd >= 0 && read_text(fd, events, sizeof events) == 0)
        return strstr(events, "populated 0") != NULL;
    group_find_pids(s, &left);
    bool empty = left.n == 0;
    VEC_DONE(&left);
    return empty;
}
