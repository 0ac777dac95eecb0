/* Owns what v1 and v2 have in common: bases, groups as directories, the processes in
 * them, and ending those. A group is always named relative to the base, so nothing that
 * belongs to another server or to the system can be reached by mistake. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "runtime/local/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/local/textfile.h"

static const unsigned main_controllers = CGROUP_CPU | CGROUP_CPUSET | CGROUP_MEMORY | CGROUP_PIDS;

int cgroup_open(const struct cgroup_mounts *m, const char *base, struct cgroups *c, struct str *why)
{
    bool any = false;
    const struct cgroup_version *version = &cgroup_v1;
    for (uint32_t i = 0; i < m->n; i++) {
        any = any || m->at[i].v2 || m->at[i].controllers;
        if (m->at[i].v2 && m->at[i].controllers & main_controllers)
            version = &cgroup_v2;
    }
    *c = (struct cgroups){.version = version};
    if (!any) {
        str_add(why, "no control groups are mounted");
        return -1;
    }
    if (version->open(m, base, c, why) == 0)
        return 0;
    cgroup_close(c);
    return -1;
}

int cgroup_open_again(const struct cgroup_mounts *m, const char *base, struct cgroups *c,
                      struct str *why)
{
    struct cgroups new;
    if (cgroup_open(m, base, &new, why) < 0)
        return -1;
    for (uint32_t i = 0; i < c->n; i++) {
        close(c->at[i].fd);
        free(c->at[i].base);
    }
    *c = new;
    return 0;
}

int cgroup_add(struct cgroups *c, char *base, unsigned controllers, bool v2)
{
    int fd = open(base, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    c->at[c->n++] = (struct cgroup_hierarchy){base, fd, controllers, v2};
    c->controllers |= controllers;
    return 0;
}

void cgroup_close(struct cgroups *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        close(c->at[i].fd);
        rmdir(c->at[i].base);
        free(c->at[i].base);
    }
    c->n = 0;
    c->controllers = 0;
}

uint32_t cgroup_base_weight(uint32_t normal, uint32_t most)
{
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus < 1 ? normal : (uint64_t)cpus * normal < most ? (uint32_t)cpus * normal : most;
}

const struct cgroup_hierarchy *cgroup_with(const struct cgroups *c, unsigned controller)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (c->at[i].controllers & controller)
            return &c->at[i];
    return NULL;
}

int cgroup_write(const struct cgroup_hierarchy *h, const char *name, const char *file,
                 const char *fmt, ...)
{
    char path[512], text[8192];
    snprintf(path, sizeof path, "%s%s%s", name ? name : "", name ? "/" : "", file);
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return n < 0 || n >= (int)sizeof text ? E2BIG : textfile_write_at(h->fd, path, text);
}

int cgroup_refused(const struct cgroup_hierarchy *h, const char *name, const char *file, int code,
                   struct err *err)
{
    return err_set(err, ERR_IO, "cannot set %s/%s/%s: %s", h->base, name, file, strerror(code));
}

void cgroup_complain(struct str *why, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    if (why->n)
        str_add(why, "; ");
    str_addv(why, fmt, args);
    va_end(args);
}

int cgroup_create(const struct cgroups *c, const char *name, struct err *err)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (mkdirat(c->at[i].fd, name, 0755) && errno != EEXIST)
            return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_IO,
                           "cannot make the control group %s/%s: %s", c->at[i].base, name,
                           strerror(errno));
    return 0;
}

bool cgroup_exists(const struct cgroups *c, const char *name)
{
    for (uint32_t i = 0; i < c->n; i++)
        if (faccessat(c->at[i].fd, name, F_OK, 0) == 0)
            return true;
    return false;
}

int cgroup_cpus(const struct cgroups *c, const char *name, struct str *out)
{
    const struct cgroup_hierarchy *h = cgroup_with(c, CGROUP_CPUSET);
    char path[512];
    snprintf(path, sizeof path, "%s/cpuset.cpus", name);
    return h ? textfile_read_at(h->fd, path, out) : ENOENT;
}

/* Calls fn for each directory in `path` below `dir`; there are only groups. */
static void each_child(int dir, const char *path, void (*fn)(void *ctx, const char *name),
                       void *ctx)
{
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *e; (e = readdir(d));)
        if (e->d_type == DT_DIR && e->d_name[0] != '.')
            fn(ctx, e->d_name);
    closedir(d);
}

/* A walk through a group and those that the job made below it. */
struct walk {
    int dir;
    const char *path;
    pid_list *pids; /* to add to, or NULL to remove the groups, deepest first */
    int code;       /* errno of the last removal that failed */
};

static void walk_group(struct walk *w);

static void walk_child(void *ctx, const char *name)
{
    struct walk *w = ctx;
    struct str path = {0};
    str_addf(&path, "%s/%s", w->path, name);
    struct walk below = {w->dir, path.at, w->pids, 0};
    walk_group(&below);
    w->code = below.code ? below.code : w->code;
    str_done(&path);
}

static void add_processes(const struct walk *w)
{
    struct str file = {0}, text = {0};
    str_addf(&file, "%s/cgroup.procs", w->path);
    if (textfile_read_at(w->dir, file.at, &text) == 0) {
        char *end;
        for (const char *p = text.at; *p; p = end) {
            int64_t pid = strtoll(p, &end, 10);
            if (end == p)
                break;
            if (pid > 0)
                VEC_PUSH(w->pids, pid);
        }
    }
    str_done(&file);
    str_done(&text);
}

static void walk_group(struct walk *w) /* NOLINT(misc-no-recursion): as deep as the groups */
{
    if (w->pids)
        add_processes(w);
    else if (unlinkat(w->dir, w->path, AT_REMOVEDIR) == 0 || errno == ENOENT)
        return;
    each_child(w->dir, w->path, walk_child, w);
    if (!w->pids && unlinkat(w->dir, w->path, AT_REMOVEDIR) && errno != ENOENT)
        w->code = errno;
    else
        w->code = 0;
}

void cgroup_processes(const struct cgroups *c, const char *name, pid_list *out)
{
    for (uint32_t i = 0; i < c->n; i++) {
        struct walk w = {c->at[i].fd, name, out, 0};
        walk_group(&w);
    }
}

void cgroup_kill_each(const struct cgroups *c, const char *name)
{
    pid_list pids = {0};
    cgroup_processes(c, name, &pids);
    for (size_t i = 0; i < pids.n; i++)
        kill((pid_t)pids.at[i], SIGKILL);
    VEC_DONE(&pids);
}

/* Whether the group is gone, or was empty and is gone now. Those by which processes can be
 * killed or frozen go last: they are there as long as a process is in one of the others. */
static bool remove_empty(const struct cgroups *c, const char *name)
{
    for (int last = 0; last <= 1; last++)
        for (uint32_t i = 0; i < c->n; i++) {
            const struct cgroup_hierarchy *h = &c->at[i];
            bool is_last = h->v2 || h->controllers & CGROUP_FREEZER;
            if (is_last == last && unlinkat(h->fd, name, AT_REMOVEDIR) && errno != ENOENT)
                return false;
        }
    return true;
}

int cgroup_destroy(const struct cgroups *c, const char *name, struct err *err)
{
    if (remove_empty(c, name))
        return 0;
    c->version->kill(c, name);
    int busy = 0;
    for (uint32_t i = 0; i < c->n; i++) {
        struct walk w = {c->at[i].fd, name, NULL, 0};
        walk_group(&w);
        if (w.code && w.code != EBUSY)
            return err_set(err, ERR_IO, "cannot remove the control group %s/%s: %s", c->at[i].base,
                           name, strerror(w.code));
        busy |= w.code != 0;
    }
    return busy;
}

void cgroup_each(const struct cgroups *c, void (*fn)(void *ctx, const char *name), void *ctx)
{
    for (uint32_t i = 0; i < c->n; i++)
        each_child(c->at[i].fd, ".", fn, ctx);
}
