/* Owns creating directories. */
#include "base/fs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"

static int make(char *path, mode_t mode) /* NOLINT(misc-no-recursion): as deep as the path */
{
    if (mkdir(path, mode) == 0)
        return 0;
    int code = errno;
    char *slash = code == ENOENT ? strrchr(path, '/') : NULL;
    if (!slash || slash == path)
        return code;
    *slash = '\0';
    code = make(path, 0755);
    *slash = '/';
    if (code && code != EEXIST)
        return code;
    return mkdir(path, mode) == 0 ? 0 : errno;
}

int fs_make_dirs(const char *path, mode_t mode)
{
    AUTO_FREE char *copy = xstrdup(path);
    return make(copy, mode);
}
