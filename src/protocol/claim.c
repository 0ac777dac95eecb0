/* Owns the file `claim`. It is written and locked under a temporary name and then linked to its
 * place: like O_EXCL, link(2) fails if the name exists, but the file it makes visible is complete.
 *
 * The text is a line "PID START", followed by a line "leader PID START" once the job runs. START
 * is the start time of the process in clock ticks since boot, which tells a reused pid apart. Or
 * the text is the line "void". */
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

/* Links the prepared file `temp` into place. Returns 0 or an errno. */
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
        /* Left over from a process with the same pid that died at this point. */
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
    /* A restarted job has a new leader. */
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

static bool is_pid(long long n)
{
    return n > 0 && n <= INT32_MAX;
}

int claim_parse(const char *text, bool locked, struct claim *out, struct err *err)
{
    long long pid = 0, leader = 0;
    unsigned long long start = 0, leader_start = 0;
    int got = sscanf(text, "%lld %llu leader %lld %llu", &pid, &start, &leader, &leader_start);
    if (!strcmp(text, "void\n")) {
        *out = (struct claim){.state = CLAIM_VOID};
        return 0;
    }
    if (got < 2 || !is_pid(pid))
        return err_set(err, ERR_INVALID, "the claim has neither a pid nor 'void'");
    if (got < 4 || !is_pid(leader)) /* a pid without its start names no process */
        leader = 0, leader_start = 0;
    *out = (struct claim){locked ? CLAIM_HELD : CLAIM_DEAD, (pid_t)pid, start, (pid_t)leader,
                          leader_start};
    return 0;
}

int claim_look(int dir, struct claim *out, struct err *err)
{
    char text[256];
    AUTO_CLOSE int fd = fd_open_regular(dir, "claim", O_RDONLY, 0);
    if (fd < 0 && errno == ENOENT) {
        *out = (struct claim){.state = CLAIM_NONE};
        return 0;
    }
    if (fd < 0)
        return err_set(err, fd_is_not_regular(errno) ? ERR_INVALID : ERR_IO,
                       "cannot read the claim: %s", fd_why(errno));
    ssize_t n = read(fd, text, sizeof text - 1);
    if (n < 0)
        return err_set(err, ERR_IO, "cannot read the claim: %s", strerror(errno));
    text[n] = '\0';
    return claim_parse(text, flock(fd, LOCK_SH | LOCK_NB) < 0 && errno == EWOULDBLOCK, out, err);
}
