/* Owns the socket. Attempts to connect are 0.1 s apart, doubling to 2 s, until a server sends
 * its welcome, so a server that accepts and hangs up is not called every 0.1 s. Both buffers are
 * bounded: `out` holds one message, `in` one line and what came with it. */
#include "conductor/link.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/mem.h"

enum { DELAY_MIN = 100000, DELAY_MAX = 2000000, CHUNK = 4096 };

static void on_ready(void *ctx);

void link_init(struct link *l, struct loop *loop, unsigned timer, const char *path,
               const struct link_user *user, void *ctx)
{
    *l = (struct link){.loop = loop,
                       .timer = timer,
                       .path = path,
                       .user = user,
                       .ctx = ctx,
                       .delay = DELAY_MIN,
                       .watch = {.fd = -1, .ready = on_ready, .ctx = l}};
}

void link_done(struct link *l)
{
    loop_close(l->loop, &l->watch);
    lines_done(&l->in);
    str_done(&l->out);
}

bool link_is_up(const struct link *l)
{
    return l->watch.fd >= 0;
}

void link_welcome(struct link *l)
{
    l->delay = DELAY_MIN;
}

void link_drop(struct link *l)
{
    l->dropped = true;
}

void link_stop(struct link *l)
{
    l->stopped = true;
}

static void try_later(struct link *l)
{
    loop_set_timer(l->loop, l->timer, clock_read_steady() + l->delay);
    l->delay = l->delay * 2 < DELAY_MAX ? l->delay * 2 : DELAY_MAX;
}

/* Identifies the socket at this path: a new one has another number; 0 = there is none. */
static uint64_t name_socket(const char *path)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return 0;
    return (uint64_t)st.st_ino * 1000003 + (uint64_t)st.st_ctim.tv_sec * 1000000007 +
           (uint64_t)st.st_ctim.tv_nsec;
}

static void hang_up(struct link *l)
{
    loop_close(l->loop, &l->watch);
    lines_done(&l->in);
    str_done(&l->out);
    l->sent = 0;
    l->dropped = false;
    try_later(l);
    l->user->lost(l->ctx);
    uint64_t now = name_socket(l->path);
    if (now && now != l->socket)
        loop_set_timer(l->loop, l->timer, clock_read_steady());
}

/* A path that is too long for a socket address is reached through a descriptor of its directory,
 * *dir. */
static int make_address(const char *path, struct sockaddr_un *a, int *dir)
{
    *a = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (strlen(path) < sizeof a->sun_path) {
        memcpy(a->sun_path, path, strlen(path) + 1);
        return 0;
    }
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *folder = xstrndup(path, (size_t)(slash - path));
    *dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int n = snprintf(a->sun_path, sizeof a->sun_path, "/proc/self/fd/%d%s", *dir, slash);
    return *dir < 0 || n >= (int)sizeof a->sun_path ? -1 : 0;
}

void link_try(struct link *l)
{
    struct sockaddr_un address;
    AUTO_CLOSE int dir = -1;
    if (link_is_up(l))
        return;
    l->socket = name_socket(l->path);
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || make_address(l->path, &address, &dir) < 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) < 0) {
        try_later(l);
        return;
    }
    loop_set_timer(l->loop, l->timer, USEC_NEVER);
    l->watch.fd = fd_take(&fd);
    loop_wait_for(l->loop, &l->watch, EPOLLIN);
    l->user->connected(l->ctx);
}

struct link_kept link_release(struct link *l)
{
    struct link_kept kept = {l->watch.fd, l->in};
    loop_wait_for(l->loop, &l->watch, 0);
    l->watch.fd = -1;
    l->in = (struct lines){0};
    return kept;
}

void link_resume(struct link *l, struct link_kept *kept)
{
    l->socket = name_socket(l->path);
    loop_set_timer(l->loop, l->timer, USEC_NEVER);
    l->watch.fd = fd_take(&kept->fd);
    l->in = kept->in;
    kept->in = (struct lines){0};
    loop_wait_for(l->loop, &l->watch, EPOLLIN);
    l->user->connected(l->ctx);
}

/* Passes on whole lines; -1 if the connection must be dropped. */
static int take_lines(struct link *l)
{
    const char *line;
    size_t n;
    int got = 0;
    while (!l->stopped && l->user->has_room(l->ctx) && (got = lines_take(&l->in, &line, &n)) > 0)
        if (!l->user->line(l->ctx, line, n) || l->dropped)
            return -1;
    return got < 0 ? -1 : 0;
}

/* Sends whatever is pending. */
static int send_all(struct link *l)
{
    for (;;) {
        if (l->sent == l->out.n) {
            l->out.n = l->sent = 0;
            if (!l->user->next(l->ctx, &l->out)) {
                str_done(&l->out);
                return 0;
            }
        }
        ssize_t w = send(l->watch.fd, l->out.at + l->sent, l->out.n - l->sent, MSG_NOSIGNAL);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return errno == EAGAIN ? 0 : -1;
        l->sent += (size_t)w;
    }
}

/* Sending makes room for answers, and pending lines may produce new ones. */
static int converse(struct link *l)
{
    do {
        if (take_lines(l) < 0 || send_all(l) < 0)
            return -1;
    } while (!l->stopped && !l->out.n && lines_wait(&l->in));
    /* Reads no more while lines wait for room. */
    uint32_t reading = lines_wait(&l->in) ? 0 : EPOLLIN, writing = l->out.n ? EPOLLOUT : 0;
    loop_wait_for(l->loop, &l->watch, reading | writing);
    return 0;
}

void link_flush(struct link *l)
{
    if (link_is_up(l) && converse(l) < 0)
        hang_up(l);
}

static void on_ready(void *ctx)
{
    struct link *l = ctx;
    char chunk[CHUNK];
    if (!(l->watch.events & EPOLLIN))
        return;
    ssize_t n = recv(l->watch.fd, chunk, sizeof chunk, 0);
    if (n > 0)
        lines_add(&l->in, chunk, (size_t)n);
    else if (n == 0 || (errno != EAGAIN && errno != EINTR))
        hang_up(l);
}
