/* Descriptors that change hands. */
#ifndef CONDUCTOR_FD_H
#define CONDUCTOR_FD_H

/* Gives an AUTO_CLOSE descriptor away. */
static inline int fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
