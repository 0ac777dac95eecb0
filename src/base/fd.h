/* Descriptors that change hands, and files that others may have replaced. */
#ifndef BASE_FD_H
#define BASE_FD_H

#include <stdbool.h>
#include <sys/types.h>

/* Opens a file that must be a regular one, whatever somebody has put in its place: a link is
 * not followed, and a FIFO or a device does not hold up the caller. -1 and errno on failure. */
int fd_open_regular(int dir, const char *name, int flags, mode_t mode);
/* Whether this is why it failed: something else is in its place. */
bool fd_is_not_regular(int code);
/* Why it failed, in words. */
const char *fd_why(int code);

/* Gives an AUTO_CLOSE descriptor away. */
static inline int fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
