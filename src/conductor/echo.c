/* Owns the copy of the log on standard output. The log itself is the buffer: nothing is kept in
 * memory, and a slow reader delays nobody. Parts that are rotated away before they were copied
 * are missing from the copy. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/echo.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "protocol/logread.h"

enum { PART = 16384 };

static void on_ready(void *ctx)
{
    echo_follow(ctx);
}

void echo_open(struct echo *e, struct loop *loop, int dir, int64_t max)
{
    *e = (struct echo){.loop = loop, .dir = dir, .max = max};
    e->out = (struct loop_watch){.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1),
                                 .ready = on_ready,
                                 .ctx = e};
    if (e->out.fd >= 0)
        fcntl(e->out.fd, F_SETFL, O_NONBLOCK);
}

void echo_none(struct echo *e)
{
    *e = (struct echo){.out.fd = -1};
}

void echo_follow(struct echo *e)
{
    char part[PART];
    size_t n;
    struct err err;
    while (e->out.fd >= 0) {
        if (logread(e->dir, e->max, &e->offset, part, sizeof part, &n, &err) < 0 || !n) {
            loop_wait_for(e->loop, &e->out, 0);
            return;
        }
        ssize_t written = write(e->out.fd, part, n);
        if (written > 0)
            e->offset += written;
        else if (written < 0 && errno == EAGAIN) {
            loop_wait_for(e->loop, &e->out, EPOLLOUT);
            return;
        } else if (errno != EINTR)
            echo_done(e);
    }
}

void echo_done(struct echo *e)
{
    if (e->out.fd >= 0)
        loop_close(e->loop, &e->out);
}
