/* Owns the search for log files: in the working directory, and below folders that are known to
 * hold logs. Every name is opened relative to its folder without following links, so nothing
 * outside the working directory is reached. */
#include "conductor/runlogs_find.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/proc.h"
#include "progress/log.h"

/* NAMES: limit per search. DEPTH: of folders; the working directory is 0. */
enum { NAMES = 5000, DEPTH = 5, PROCESSES = 64, PATH_BYTES = 512 };

struct search {
    struct runlogs *logs;
    const struct tree *tree;
    unsigned names; /* left of the limit */
    int alone;      /* -1 = not known yet */
};

static bool is_new(const struct runlogs *l, const struct stat *st)
{
    return st->st_mtim.tv_sec * USEC_PER_SEC + st->st_mtim.tv_nsec / 1000 >= l->since;
}

static bool is_known(const struct runlogs *l, const struct stat *st)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->at[i].device == st->st_dev && l->at[i].inode == st->st_ino)
            return true;
    return false;
}

/* ---- whose file it is ------------------------------------------------------------------- */

/* Whether no other conductor holds the lock. Anybody else who locks the directory counts as
 * well. */
static bool is_alone(struct search *s)
{
    if (s->alone < 0) {
        s->alone = flock(s->logs->dir, LOCK_EX | LOCK_NB) == 0;
        flock(s->logs->dir, LOCK_SH | LOCK_NB);
    }
    return s->alone;
}

static bool process_has_open(pid_t pid, const struct stat *file)
{
    char path[64];
    struct stat st;
    snprintf(path, sizeof path, "/proc/%ld/fd", (long)pid);
    DIR *d = opendir(path);
    bool found = false;
    for (const struct dirent *e; d && !found && (e = readdir(d));)
        found = fstatat(dirfd(d), e->d_name, &st, 0) == 0 && st.st_dev == file->st_dev &&
                st.st_ino == file->st_ino;
    if (d)
        closedir(d);
    return found;
}

static bool is_open_in_job(const struct tree *tree, const struct stat *file)
{
    struct proc_list all = {0};
    bool found = false;
    tree_list(tree, &all);
    for (size_t i = 0; i < all.n && i < PROCESSES && !found; i++)
        found = process_has_open(all.at[i].pid, file);
    VEC_DONE(&all);
    return found;
}

/* ---- files and folders --------------------------------------------------------------------- */

static void take_file(struct search *s, int dir, const char *name, const char *path)
{
    struct runlogs *l = s->logs;
    struct stat st;
    if (l->n == RUNLOGS_FILES || progress_log_kind(path) == PROGRESS_LOG_OTHER)
        return;
    AUTO_CLOSE int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !is_new(l, &st) ||
        is_known(l, &st) || (!is_alone(s) && !is_open_in_job(s->tree, &st)))
        return;
    l->at[l->n++] = (struct run_log){.fd = fd_take(&fd),
                                     .device = st.st_dev,
                                     .inode = st.st_ino,
                                     .path = xstrdup(path),
                                     .log = progress_log_create(path)};
}

/* The working directory may have many folders: only those named like log folders count, with
 * everything below. Folders further down are new in each run. */
static bool is_entered(const struct runlogs *l, int dir, const char *name, unsigned depth)
{
    struct stat st;
    if (depth == 0)
        return progress_log_is_folder(name);
    return depth < DEPTH &&
           (depth == 1 || (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && is_new(l, &st)));
}

/* NOLINTBEGIN(misc-no-recursion): at most DEPTH deep */
static void search_folder(struct search *s, int dir, const char *path, unsigned depth);

static void take_name(struct search *s, int dir, const struct dirent *e, const char *folder,
                      unsigned depth)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof path, "%s%s%s", folder, *folder ? "/" : "", e->d_name);
    if (e->d_name[0] == '.' || n >= (int)sizeof path)
        return;
    if (e->d_type == DT_REG) {
        take_file(s, dir, e->d_name, path);
    } else if (e->d_type == DT_DIR && is_entered(s->logs, dir, e->d_name, depth)) {
        AUTO_CLOSE int below =
            openat(dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (below >= 0)
            search_folder(s, below, path, depth + 1);
    }
}

static void search_folder(struct search *s, int dir, const char *path, unsigned depth)
{
    int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *d = fd < 0 ? NULL : fdopendir(fd);
    if (!d) {
        if (fd >= 0)
            close(fd);
        return;
    }
    for (const struct dirent *e; s->names && (e = readdir(d)); s->names--)
        take_name(s, dirfd(d), e, path, depth);
    closedir(d);
}
/* NOLINTEND(misc-no-recursion) */

void runlogs_find(struct runlogs *l, const struct tree *tree)
{
    struct search s = {.logs = l, .tree = tree, .names = NAMES, .alone = -1};
    search_folder(&s, l->dir, "", 0);
}
