/* Owns opening files that others may have replaced. */
#include "base/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

int fd_open_regular(int dir, const char *name, int flags, mode_t mode)
{
    AUTO_CLOSE int fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) < 0)
        return -1;
    if (S_ISREG(st.st_mode))
        return fd_take(&fd);
    errno = ENXIO;
    return -1;
}

bool fd_is_not_regular(int code)
{
    return code == ENXIO || code == ELOOP || code == EISDIR || code == ENODEV;
}

const char *fd_why(int code)
{
    return fd_is_not_regular(code) ? "it is not a regular file" : strerror(code);
}
