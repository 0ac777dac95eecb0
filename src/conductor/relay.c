/* Owns the relay between a conductor and a server behind an engine. It listens on the socket where
 * the conductor expects its server, passes messages on in both directions, and sends the job's log
 * from the offset that the server requests.
 *
 * A newer relay replaces an older one, whose server may have gone without its knowledge: it takes
 * over the socket and kills the process whose pid is in the file `relay`.
 *
 * Memory is bounded: while the output is blocked, nothing more is read. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "conductor/relay.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "protocol/exit_record.h"
#include "protocol/launch_spec.h"
#include "protocol/logread.h"
#include "protocol/relay.h"

enum { CHUNK = 16384, FAILED = 1 };
enum { IN, OUT, LISTENER, CONDUCTOR, NEWS, STREAMS };

struct conductor_relay {
    int dir;
    int64_t log_max;
    struct pollfd at[STREAMS]; /* fd is -1 where there is none */
    struct relay from_server;
    struct str to_server, to_conductor; /* still to be written */
    int64_t log_offset;                 /* of the next byte to send; -1 = nothing to send */
    bool log_waits;                     /* all of it was sent, and it may grow */
};

/* ---- set-up -------------------------------------------------------------------------- */

static int fail(const char *what)
{
    fprintf(stderr, "trainyard-conductor: cannot %s: %s\n", what, strerror(errno));
    return -1;
}

/* Ends the previous relay, and leaves our pid for the next one. */
static void replace_older(int dir)
{
    char text[32] = "";
    AUTO_CLOSE int fd = openat(dir, "relay", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    long older = n > 0 ? strtol(text, NULL, 10) : 0;
    if (older > 1 && older != getpid())
        kill((pid_t)older, SIGTERM);
    snprintf(text, sizeof text, "%-15ld\n", (long)getpid());
    if (fd >= 0 && pwrite(fd, text, strlen(text), 0) < 0)
        fail("write the file relay");
}

/* The socket gets its name once it accepts connections. */
static int listen_at(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX}, new = a;
    int n = snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
    int m = snprintf(new.sun_path, sizeof new.sun_path, "%s.new", path);
    if (n >= (int)sizeof a.sun_path || m >= (int)sizeof new.sun_path) {
        errno = ENAMETOOLONG;
        return fail("name the socket");
    }
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(new.sun_path);
    if (fd < 0 || bind(fd, (struct sockaddr *)&new, sizeof new) < 0 || listen(fd, 4) < 0 ||
        rename(new.sun_path, a.sun_path) < 0) {
        fail("listen");
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

static int set_up(struct conductor_relay *r)
{
    struct arena arena = {0};
    struct launch_spec spec;
    struct str unknown = {0};
    struct err err;
    char path[32];
    if (launch_spec_read(r->dir, &arena, &spec, &unknown, &err) < 0) {
        fprintf(stderr, "trainyard-conductor: %s\n", err.text);
        arena_done(&arena);
        return -1;
    }
    r->log_max = spec.log_max_bytes;
    r->log_offset = -1;
    replace_older(r->dir);
    int listener = listen_at(spec.socket), news = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
    str_done(&unknown);
    arena_done(&arena);
    snprintf(path, sizeof path, "/proc/self/fd/%d", r->dir);
    if (inotify_add_watch(news, path, IN_MODIFY | IN_CREATE | IN_MOVED_TO) < 0)
        return fail("watch the log");
    fcntl(STDIN_FILENO, F_SETFL, O_NONBLOCK);
    fcntl(STDOUT_FILENO, F_SETFL, O_NONBLOCK);
    const int fds[STREAMS] = {STDIN_FILENO, STDOUT_FILENO, listener, -1, news};
    for (int i = 0; i < STREAMS; i++)
        r->at[i].fd = fds[i];
    return listener < 0 ? -1 : 0;
}

/* ---- writing --------------------------------------------------------------------------- */

/* Writes as much of the pending bytes as possible without blocking. */
static int write_out(int fd, struct str *s)
{
    while (s->n) {
        ssize_t n = write(fd, s->at, s->n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN ? 0 : -1;
        s->n -= (size_t)n;
        memmove(s->at, s->at + n, s->n);
    }
    return 0;
}

/* ---- the log ---------------------------------------------------------------------------- */

/* Whether the job is over and this is the end of its log. */
static bool is_log_complete(const struct conductor_relay *r)
{
    struct arena arena = {0};
    struct exit_record record;
    struct err err;
    int rc = exit_record_read(r->dir, &arena, &record, &err);
    arena_done(&arena);
    return rc == 0 && r->log_offset >= record.log_bytes;
}

/* Queues the next part of the log. */
static void send_log(struct conductor_relay *r)
{
    static char part[RELAY_PART_MAX];
    struct err err;
    size_t n;
    if (r->log_offset < 0 || r->log_waits || r->to_server.n)
        return;
    if (logread(r->dir, r->log_max, &r->log_offset, part, sizeof part, &n, &err) < 0)
        n = 0;
    if (n) {
        relay_add_log(&r->to_server, r->log_offset, n);
        str_add_n(&r->to_server, part, n);
        r->log_offset += (int64_t)n;
    } else if (is_log_complete(r)) {
        relay_add_log(&r->to_server, r->log_offset, 0);
        r->log_offset = -1;
    } else {
        r->log_waits = true;
    }
}

/* ---- what comes ------------------------------------------------------------------------ */

static void take_news(struct conductor_relay *r)
{
    _Alignas(struct inotify_event) char events[4096];
    while (read(r->at[NEWS].fd, events, sizeof events) > 0)
        r->log_waits = false;
}

/* -1 if the other side has hung up. */
static int read_some(int fd, char *bytes, size_t *n)
{
    ssize_t got = read(fd, bytes, CHUNK);
    *n = got > 0 ? (size_t)got : 0;
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)) ? 0 : -1;
}

static int take_from_server(struct conductor_relay *r)
{
    char bytes[CHUNK];
    struct relay_item item;
    size_t n;
    int got = 0;
    if (read_some(r->at[IN].fd, bytes, &n) < 0)
        return -1;
    relay_add(&r->from_server, bytes, n);
    while ((got = relay_take(&r->from_server, &item)) > 0) {
        if (item.kind == RELAY_LOG) {
            r->log_offset = item.offset;
            r->log_waits = false;
            continue;
        }
        str_add_n(&r->to_conductor, item.bytes, item.n);
        str_add(&r->to_conductor, "\n");
    }
    return got;
}

/* The conductor's lines are passed on unchanged, but only whole ones, because a part of the log
 * may follow. */
static int take_from_conductor(struct conductor_relay *r, struct str *rest)
{
    char bytes[CHUNK];
    size_t n;
    if (read_some(r->at[CONDUCTOR].fd, bytes, &n) < 0)
        return -1;
    str_add_n(rest, bytes, n);
    const char *newline = rest->n ? memrchr(rest->at, '\n', rest->n) : NULL;
    if (!newline)
        return 0;
    size_t whole = (size_t)(newline - rest->at) + 1;
    str_add_n(&r->to_server, rest->at, whole);
    rest->n -= whole;
    memmove(rest->at, rest->at + whole, rest->n);
    return 0;
}

static void accept_conductor(struct conductor_relay *r)
{
    r->at[CONDUCTOR].fd = accept4(r->at[LISTENER].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

/* ---- the loop -------------------------------------------------------------------------- */

static void choose_events(struct conductor_relay *r)
{
    bool full = r->to_server.n > 0;
    bool connected = r->at[CONDUCTOR].fd >= 0;
    r->at[IN].events = r->to_conductor.n && connected ? 0 : POLLIN;
    r->at[OUT].events = full ? POLLOUT : 0;
    r->at[LISTENER].events = connected ? 0 : POLLIN;
    r->at[CONDUCTOR].events = (short)((full ? 0 : POLLIN) | (r->to_conductor.n ? POLLOUT : 0));
    r->at[NEWS].events = r->log_waits ? POLLIN : 0;
}

/* One turn; -1 at the end. */
static int turn(struct conductor_relay *r, struct str *rest)
{
    send_log(r);
    if (write_out(r->at[OUT].fd, &r->to_server) < 0)
        return -1;
    if (!r->to_server.n && r->log_offset >= 0 && !r->log_waits)
        return 0; /* there is more of the log */
    choose_events(r);
    if (poll(r->at, STREAMS, -1) < 0)
        return errno == EINTR ? 0 : -1;
    if (r->at[NEWS].revents)
        take_news(r);
    if (r->at[IN].revents && take_from_server(r) < 0)
        return -1;
    if (r->at[OUT].revents & (POLLERR | POLLHUP))
        return -1;
    if (r->at[CONDUCTOR].revents & (POLLIN | POLLHUP) && take_from_conductor(r, rest) < 0)
        return -1;
    if (r->at[LISTENER].revents)
        accept_conductor(r);
    return r->at[CONDUCTOR].fd >= 0 ? write_out(r->at[CONDUCTOR].fd, &r->to_conductor) : 0;
}

int relay_run(int dir)
{
    struct conductor_relay r = {.dir = dir};
    struct str rest = {0};
    signal(SIGPIPE, SIG_IGN);
    if (set_up(&r) < 0)
        return FAILED;
    while (turn(&r, &rest) == 0)
        ;
    str_done(&rest);
    str_done(&r.to_server);
    str_done(&r.to_conductor);
    relay_done(&r.from_server);
    return 0;
}
