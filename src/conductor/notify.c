/* Owns the inotify descriptor, except for closing it, which the loop does. */
#include "conductor/notify.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/mem.h"

void notify_init(struct notify *n)
{
    *n = (struct notify){.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .file = -1, .dir = -1};
}

static bool watch(struct notify *n, int file, uint32_t events)
{
    char path[64];
    if (n->fd < 0)
        return false;
    if (n->file >= 0)
        inotify_rm_watch(n->fd, n->file);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    n->file = inotify_add_watch(n->fd, path, events);
    return n->file >= 0;
}

bool notify_watch_file(struct notify *n, int file)
{
    return watch(n, file, IN_MODIFY);
}

bool notify_watch_names(struct notify *n, int dir)
{
    return watch(n, dir, IN_CREATE | IN_MOVED_TO);
}

void notify_watch_folder_of(struct notify *n, const char *path)
{
    if (n->fd < 0 || n->dir >= 0)
        return;
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = xstrndup(path, (size_t)(slash - path) + 1);
    n->dir = inotify_add_watch(n->fd, folder, IN_CREATE | IN_MOVED_TO);
}

void notify_forget_folder(struct notify *n)
{
    if (n->dir >= 0)
        inotify_rm_watch(n->fd, n->dir);
    n->dir = -1;
}

unsigned notify_read(struct notify *n)
{
    _Alignas(struct inotify_event) char events[4096];
    unsigned what = 0;
    for (ssize_t got; (got = read(n->fd, events, sizeof events)) > 0;) {
        const struct inotify_event *e;
        for (char *p = events; p < events + got; p += sizeof *e + e->len) {
            e = (const struct inotify_event *)p;
            if (e->wd == n->file)
                what |= NOTIFY_FILE;
            else if (e->wd == n->dir && e->mask & IN_IGNORED)
                n->dir = -1; /* the directory is gone; the timer keeps trying */
            else if (e->wd == n->dir)
                what |= NOTIFY_DIR;
        }
    }
    return what;
}
