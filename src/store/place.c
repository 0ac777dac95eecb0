/* Owns the last step of making a database: sync, rename, sync the directory. */
#include "store/place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/fault.h"

static int sync_path(const char *path, int flags)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    return fd < 0 ? -1 : fsync(fd);
}

static int sync_directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir =
        slash ? xstrndup(path, slash == path ? 1 : (size_t)(slash - path)) : xstrdup(".");
    return sync_path(dir, O_DIRECTORY);
}

int place_file(const char *from, const char *to, struct err *err)
{
    if (sync_path(from, 0) == 0 && rename(from, to) == 0 && sync_directory_of(to) == 0)
        return 0;
    int number = errno;
    unlink(from);
    return fault_errno(to, number, err);
}
