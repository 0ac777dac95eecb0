/* Owns exit.json. The file that will become it exists, with its blocks, from the
 * beginning; it is overwritten, synced and renamed at the end. */
#include "conductor/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TEMP "exit.json.tmp"

int record_reserve(int dir)
{
    int fd = openat(dir, TEMP, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0)
        (void)posix_fallocate(fd, 0, RECORD_MAX_BYTES);
    return fd;
}

static int write_all(int fd, const char *text, size_t n)
{
    for (size_t done = 0; done < n;) {
        ssize_t w = pwrite(fd, text + done, n - done, (off_t)done);
        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return w < 0 ? errno : ENOSPC;
        done += (size_t)w;
    }
    return 0;
}

int record_write(int dir, int fd, const char *text, size_t n, struct err *err)
{
    int own = fd < 0 ? record_reserve(dir) : fd;
    int why = own < 0 ? errno : write_all(own, text, n);
    if (!why && (ftruncate(own, (off_t)n) < 0 || fsync(own) < 0))
        why = errno;
    if (!why && (renameat(dir, TEMP, dir, "exit.json") < 0 || fsync(dir) < 0))
        why = errno;
    if (own >= 0 && (own != fd || !why))
        close(own);
    return why ? err_set(err, ERR_IO, "cannot write exit.json: %s", strerror(why)) : 0;
}
