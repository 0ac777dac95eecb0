/* Descriptors that change hands. */
#ifndef BASE_FD_H
#define BASE_FD_H

/* Gives an AUTO_CLOSE descriptor away. */
static inline int fd_take(int *fd)
{
    int taken = *fd;
    *fd = -1;
    return taken;
}

#endif
