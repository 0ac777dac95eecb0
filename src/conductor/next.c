/* Owns the wait for another attempt. Starting a process and connecting takes longer than many
 * short jobs, so the server reuses conductors. Only the connection of the previous attempt is
 * left by now. */
#include "conductor/next.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "protocol/to_conductor.h"

/* 1 if the line names a directory; -1 if it is not a message. */
static int read_line(const char *line, size_t n, struct str *directory)
{
    struct arena arena = {0};
    struct to_conductor m;
    struct err err;
    int rc = to_conductor_decode(line, n, &arena, &m, &err);
    if (rc == 0 && m.kind == TO_CONDUCTOR_NEXT) {
        directory->n = 0;
        str_add(directory, m.next.directory);
        rc = 1;
    }
    arena_done(&arena);
    return rc;
}

/* 0 if nothing relevant was received; -1 if nothing will be. */
static int receive(struct link_kept *kept)
{
    char bytes[4096];
    struct pollfd p = {.fd = kept->fd, .events = POLLIN};
    ssize_t n = poll(&p, 1, -1) < 0 ? -1 : recv(kept->fd, bytes, sizeof bytes, 0);
    if (n > 0)
        lines_add(&kept->in, bytes, (size_t)n);
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)) ? 0 : -1;
}

int next_wait(struct link_kept *kept, struct str *directory)
{
    sigset_t none;
    const char *line;
    size_t n;
    int got = 0;
    if (kept->fd < 0)
        return -1;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    while (got == 0) {
        got = lines_take(&kept->in, &line, &n);
        got = got > 0 ? read_line(line, n, directory) : got < 0 ? -1 : receive(kept);
    }
    if (got > 0)
        return 0;
    close(kept->fd);
    kept->fd = -1;
    lines_done(&kept->in);
    return -1;
}
