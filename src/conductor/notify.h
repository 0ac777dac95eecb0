/* Notices changes of files without polling: of the file $TRAINYARD_PROGRESS, which the
 * job writes, and of the directory in which the server's socket appears. It uses
 * inotify, of which the kernel grants each user a limited number, so it may not be
 * available. */
#ifndef CONDUCTOR_NOTIFY_H
#define CONDUCTOR_NOTIFY_H

#include <stdbool.h>

#define NOTIFY_FILE 1u
#define NOTIFY_DIR 2u

struct notify {
    int fd;        /* to be waited for; -1 = there is no inotify */
    int file, dir; /* watches; -1 = none */
};

void notify_init(struct notify *n);
/* Tells when the open file is written to or, for a directory, when a name appears in it;
 * false when it cannot. Takes the place of an earlier watch. */
bool notify_watch_file(struct notify *n, int file);
bool notify_watch_names(struct notify *n, int dir);
/* Tells when a name appears in the directory that holds `path`. */
void notify_watch_folder_of(struct notify *n, const char *path);
void notify_forget_folder(struct notify *n);
/* What happened since the last call. */
unsigned notify_read(struct notify *n);

#endif
