/* Ownership of descriptors, and files that others may have replaced. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens a regular file, safely even if somebody has put something else in its place: links are
 * not followed, and a FIFO or device does not block the caller. -1 and errno on failure. */
int fd_open_regular(int dir, const char *name, int flags, mode_t mode);
/* Whether it failed because something else is in its place. */
bool fd_is_not_regular(int code);
/* The failure in words. */
const char *fd_why(int code);

/* Releases an AUTO_CLOSE descriptor. */
static inline int fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
