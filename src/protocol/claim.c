/* Owns the file `claim`. It is written and locked under a name of its own and
 * then linked to its place: link(2) fails when the place is taken, as O_EXCL
 * does, but what it makes visible is complete.
 *
 * The text is a line "PID START", then a line "leader PID START" once the job
 * runs; START is the process's start in clock ticks since boot, so that a pid of
 * today is not taken for one of yesterday. Or it is the line "void". */
#include "protocol/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/mem.h"
#include "base/proc.h"

static int failed(struct err *err, int why)
{
    return err_set(err, ERR_IO, "cannot write the claim: %s", strerror(why));
}

/* Links the file that was prepared as `temp`; 0 or an errno. */
static int put_in_place(int dir, int fd, const char *temp, const char *text)
{
    size_t n = strlen(text);
    ssize_t written = write(fd, text, n);
    if (written != (ssize_t)n)
        return written < 0 ? errno : ENOSPC;
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno;
    return linkat(dir, temp, dir, "claim", 0) < 0 ? errno : 0;
}

static int take(int dir, const char *text, int *out, struct err *err)
{
    const int flags = O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC;
    char temp[64];
    snprintf(temp, sizeof temp, "claim.%ld", (long)getpid());
    AUTO_CLOSE int fd = openat(dir, temp, flags, 0600);
    if (fd < 0 && errno == EEXIST) {
        /* Left over from a process of the same pid that died just here. */
        unlinkat(dir, temp, 0);
        fd = openat(dir, temp, flags, 0600);
    }
    if (fd < 0)
        return failed(err, errno);
    int why = put_in_place(dir, fd, temp, text);
    unlinkat(dir, temp, 0);
    if (why == EEXIST)
        return err_set(err, ERR_CONFLICT, "the attempt is claimed by another");
    if (why)
        return failed(err, why);
    *out = fd_take(&fd);
    return 0;
}

int claim_take(int dir, int *fd, struct err *err)
{
    char text[64];
    struct proc self = {0};
    proc_read(getpid(), &self);
    snprintf(text, sizeof text, "%ld %llu\n", (long)getpid(), (unsigned long long)self.start);
    return take(dir, text, fd, err);
}

void claim_add_leader(int fd, pid_t leader)
{
    struct proc p;
    char text[64];
    ssize_t n = pread(fd, text, sizeof text, 0);
    const char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL;
    /* One that was started again has another. */
    if (!end || ftruncate(fd, end - text + 1) < 0)
        return;
    if (proc_read(leader, &p) == 0)
        dprintf(fd, "leader %ld %llu\n", (long)leader, (unsigned long long)p.start);
}

int claim_void(int dir, struct err *err)
{
    AUTO_CLOSE int fd = -1;
    return take(dir, "void\n", &fd, err);
}

int claim_look(int dir, struct claim *out, struct err *err)
{
    struct claim c = {.state = CLAIM_NONE};
    char text[256];
    AUTO_CLOSE int fd = fd_open_regular(dir, "claim", O_RDONLY, 0);
    if (fd < 0 && errno != ENOENT)
        return err_set(err, fd_is_not_regular(errno) ? ERR_INVALID : ERR_IO,
                       "cannot read the claim: %s", fd_why(errno));
    if (fd >= 0) {
        ssize_t n = read(fd, text, sizeof text - 1);
        if (n < 0)
            return err_set(err, ERR_IO, "cannot read the claim: %s", strerror(errno));
        text[n] = '\0';
        long pid = 0, leader = 0;
        unsigned long long start = 0, leader_start = 0;
        int got = sscanf(text, "%ld %llu leader %ld %llu", &pid, &start, &leader, &leader_start);
        bool held = flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK;
        if (got >= 2)
            c = (struct claim){held ? CLAIM_HELD : CLAIM_DEAD, (pid_t)pid, start, (pid_t)leader,
                               leader_start};
        else if (strncmp(text, "void", 4) == 0)
            c.state = CLAIM_VOID;
        else
            return err_set(err, ERR_INVALID, "the claim holds neither a pid nor 'void'");
    }
    *out = c;
    return 0;
}
