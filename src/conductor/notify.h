/* Notices changes without polling: in the file $TRAINYARD_PROGRESS, which the job writes, and in
 * the directory where the server's socket appears. Uses inotify, which may be unavailable: the
 * kernel limits the number of watches per user. */
#ifndef CONDUCTOR_NOTIFY_H
#define CONDUCTOR_NOTIFY_H

#include <stdbool.h>

#define NOTIFY_FILE 1u
#define NOTIFY_DIR 2u

struct notify {
    int fd;        /* to wait for; -1 = no inotify */
    int file, dir; /* watches; -1 = none */
};

void notify_init(struct notify *n);
/* Watches the open file for writes or, if it is a directory, for new names; false if that is not
 * possible. Replaces an earlier watch. */
bool notify_watch_file(struct notify *n, int file);
bool notify_watch_names(struct notify *n, int dir);
/* Watches the directory of `path` for new names. */
void notify_watch_folder_of(struct notify *n, const char *path);
void notify_forget_folder(struct notify *n);
/* What has happened since the last call. */
unsigned notify_read(struct notify *n);

#endif
