/* Owns reading and writing the kernel's files. A kernel file must be written with one
 * call, and reports a refused value through the errno of that call. */
#include "runtime/local/textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

int textfile_read_at(int dir, const char *path, struct str *out)
{
    int fd AUTO_CLOSE = openat(dir, path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    char block[4096];
    out->n = 0;
    str_add(out, "");
    for (;;) {
        ssize_t n = read(fd, block, sizeof block);
        if (n == 0)
            return 0;
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            str_add_n(out, block, (size_t)n);
    }
}

int textfile_read(const char *path, struct str *out)
{
    return textfile_read_at(AT_FDCWD, path, out);
}

int textfile_write_at(int dir, const char *path, const char *text)
{
    int fd AUTO_CLOSE = openat(dir, path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t n = write(fd, text, strlen(text));
    return n < 0 ? errno : 0;
}
