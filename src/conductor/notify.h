/* News of files without asking for them: the file $TRAINYARD_PROGRESS that the job
 * writes, and the directory where the server's socket appears. By inotify; the
 * kernel grants each user a limited number, so it may not be there. */
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
/* Tells when the open file is written to; false when it cannot. */
bool notify_watch_file(struct notify *n, int file);
/* Tells when a name appears in the directory that holds `path`. */
void notify_watch_folder_of(struct notify *n, const char *path);
void notify_forget_folder(struct notify *n);
/* What happened since the last call. */
unsigned notify_read(struct notify *n);

#endif
