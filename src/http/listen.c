/* Owns the sockets that listen: a unix socket with its file, TCP, and what is
 * accepted from them.
 *
 * A listener that has as many connections as it may, or for which the process has
 * no descriptor left, is paused: the others wait in the kernel until a connection
 * is closed or the next tick. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/internal.h"

#define BACKLOG 1024
/* Accepted at a time, before others in the loop have their turn. */
#define ACCEPT_BURST 64

static void on_connectable(uv_poll_t *poll, int status, int events);

static void pause_listener(struct listener *l)
{
    l->paused = true;
    uv_poll_stop(&l->poll);
    server_update_tick(l->server);
}

static void resume_listener(struct listener *l)
{
    if (!l->paused || l->server->stopping || l->connections >= l->server->limits.connections)
        return;
    l->paused = false;
    uv_poll_start(&l->poll, UV_READABLE, on_connectable);
}

void listener_release(struct listener *l)
{
    l->connections--;
    resume_listener(l);
}

void listener_retry(struct http_server *s)
{
    for (struct listener *l = s->listeners; l; l = l->next)
        resume_listener(l);
}

/* ---- accepting ------------------------------------------------------------- */

static void format_address(const struct sockaddr_storage *from, socklen_t size, char *out,
                           size_t room)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)from, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(out, room, strchr(host, ':') ? "[%.45s]:%.5s" : "%.45s:%.5s", host, port);
}

/* A peer whose machine has vanished is noticed within some minutes also when we
 * only wait for it. */
static void set_keepalive(int fd)
{
    int on = 1, idle = 60, interval = 20, probes = 3;
    unsigned unacknowledged_ms = 60000;
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &unacknowledged_ms, sizeof unacknowledged_ms);
}

static bool identify(struct conn *c, const struct sockaddr_storage *from, socklen_t from_size)
{
    struct ucred cred;
    socklen_t size = sizeof cred;
    if (!c->listener->local) {
        set_keepalive(c->fd);
        format_address(from, from_size, c->peer.address, sizeof c->peer.address);
        return true;
    }
    if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &cred, &size) < 0)
        return false;
    c->peer.local = true;
    c->peer.uid = cred.uid;
    c->peer.gid = cred.gid;
    c->peer.pid = cred.pid;
    return true;
}

/* Hands the connection to MHD, which closes it when it cannot take it. on_started
 * (conn.c) picks up `adding`. */
static void add_connection(struct listener *l, int fd, const struct sockaddr_storage *from,
                           socklen_t size)
{
    struct http_server *s = l->server;
    struct conn *c = conn_create(l, fd);
    if (!identify(c, from, size)) {
        close(fd);
        conn_free(c);
        return;
    }
    s->adding = c;
    MHD_add_connection(s->mhd, fd, (const struct sockaddr *)from, size);
    if (s->adding)
        conn_free(TAKE(s->adding));
}

static void on_connectable(uv_poll_t *poll, int status, int events)
{
    struct listener *l = poll->data;
    struct sockaddr_storage from;
    (void)status;
    (void)events;
    for (int i = 0; i < ACCEPT_BURST; i++) {
        if (l->connections >= l->server->limits.connections) {
            pause_listener(l);
            break;
        }
        socklen_t size = sizeof from;
        int fd = accept4(l->fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            add_connection(l, fd, &from, size);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            pause_listener(l);
            break;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            break;
        }
    }
    server_arm(l->server);
}

/* ---- listening ------------------------------------------------------------- */

/* Takes the descriptor, which is bound and listens. */
static struct listener *add_listener(struct http_server *s, int fd, bool local, struct err *err)
{
    struct listener *l = xcalloc(1, sizeof *l);
    int rc = uv_poll_init(s->loop, &l->poll, fd);
    if (rc < 0) {
        err_set(err, ERR_INTERNAL, "cannot watch a socket: %s", uv_strerror(rc));
        close(fd);
        free(l);
        return NULL;
    }
    l->server = s;
    l->fd = fd;
    l->local = local;
    l->poll.data = l;
    uv_poll_start(&l->poll, UV_READABLE, on_connectable);
    l->next = s->listeners;
    s->listeners = l;
    s->handles++;
    return l;
}

/* What is in the way of a unix socket: 0 when it was a dead one, now removed. */
static int clear_path(const struct sockaddr_un *address, struct err *err)
{
    const char *path = address->sun_path;
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, ERR_CONFLICT,
                       "%s exists and is not a socket; remove it or choose "
                       "another path",
                       path);
    AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN)
        return err_set(err, ERR_CONFLICT, "a server is already running at %s", path);
    if (errno != ECONNREFUSED && errno != ENOENT)
        return err_set(err, ERR_CONFLICT, "cannot tell who owns %s: %s", path, strerror(errno));
    if (unlink(path) < 0 && errno != ENOENT)
        return err_set(err, ERR_IO, "cannot remove the dead socket %s: %s", path, strerror(errno));
    return 0;
}

/* A descriptor that is bound and listens, or -1. */
static int bind_unix(const struct sockaddr_un *address, struct err *err)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    /* The mode that the file gets; at no time may others connect. */
    if (fd >= 0 && fchmod(fd, 0600) == 0 &&
        bind(fd, (const struct sockaddr *)address, sizeof *address) == 0 &&
        listen(fd, BACKLOG) == 0)
        return fd;
    err_set(err, errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO, "cannot listen at %s: %s",
            address->sun_path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int http_server_listen_unix(struct http_server *s, const char *path, struct err *err)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    struct stat st;
    if (!*path || strlen(path) >= sizeof address.sun_path)
        return err_set(err, ERR_INVALID,
                       "socket path '%s': must have 1 to %zu bytes; choose a "
                       "shorter one",
                       path, sizeof address.sun_path - 1);
    memcpy(address.sun_path, path, strlen(path));
    if (clear_path(&address, err) < 0)
        return -1;
    int fd = bind_unix(&address, err);
    if (fd < 0)
        return -1;
    bool found = stat(path, &st) == 0;
    struct listener *l = add_listener(s, fd, true, err);
    if (!l) {
        unlink(path);
        return -1;
    }
    if (found) {
        l->path = xstrdup(path);
        l->dev = st.st_dev;
        l->ino = st.st_ino;
    }
    return 0;
}

/* Splits "HOST:PORT" or "[HOST]:PORT" in place. */
static int split_address(char *where, const char **host, const char **port, struct err *err)
{
    char *colon = strrchr(where, ':');
    int64_t number;
    if (!colon)
        return err_set(err, ERR_INVALID, "'%s': expected ADDR:PORT, for example 127.0.0.1:8080",
                       where);
    if (str_parse_int(colon + 1, 0, 65535, &number, err) < 0)
        return err_prefix(err, "port of '%s'", where);
    bool brackets = where[0] == '[' && colon > where + 1 && colon[-1] == ']';
    if (!brackets && memchr(where, ':', (size_t)(colon - where)))
        return err_set(err, ERR_INVALID, "'%s': write an IPv6 address in brackets, [::1]:8080",
                       where);
    colon[brackets ? -1 : 0] = '\0';
    *host = where + brackets;
    *port = colon + 1;
    return 0;
}

static int bind_tcp(const struct addrinfo *a)
{
    int on = 1, off = 0;
    int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    /* "[::]" and "" take IPv4 too. */
    if (a->ai_family == AF_INET6)
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    if (bind(fd, a->ai_addr, a->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return -1;
}

/* The first address of the name that can be had, or -1. */
static int bind_name(const char *host, const char *port, struct err *err)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE}, *found;
    int fd = -1, rc = getaddrinfo(host, port, &hints, &found);
    if (rc)
        return err_set(err, ERR_INVALID, "address '%s': %s", host, gai_strerror(rc));
    for (const struct addrinfo *a = found; a && fd < 0; a = a->ai_next)
        fd = bind_tcp(a);
    if (fd < 0)
        err_set(err, errno == EADDRINUSE ? ERR_CONFLICT : ERR_IO, "cannot listen at %s port %s: %s",
                host, port, strerror(errno));
    freeaddrinfo(found);
    return fd;
}

/* All addresses: those of both families, or IPv4's where there is no IPv6. */
static int bind_any(const char *port, struct err *err)
{
    int fd = bind_name("::", port, NULL);
    return fd >= 0 ? fd : bind_name("0.0.0.0", port, err);
}

int http_server_listen_tcp(struct http_server *s, const char *where, unsigned *port,
                           struct err *err)
{
    AUTO_FREE char *copy = xstrdup(where);
    const char *host, *service;
    struct sockaddr_in6 bound = {0};
    socklen_t size = sizeof bound;
    if (!s->token || !*s->token)
        return err_set(err, ERR_INVALID,
                       "listening at %s needs a token: clients by TCP must prove "
                       "who they are",
                       where);
    if (split_address(copy, &host, &service, err) < 0)
        return -1;
    int fd = *host ? bind_name(host, service, err) : bind_any(service, err);
    if (fd < 0)
        return -1;
    /* The port is at the same place in both families. */
    if (port && getsockname(fd, (struct sockaddr *)&bound, &size) == 0)
        *port = ntohs(bound.sin6_port);
    return add_listener(s, fd, false, err) ? 0 : -1;
}

/* ---- the end --------------------------------------------------------------- */

/* Removes the socket's file unless it is somebody else's by now. */
static void remove_file(const struct listener *l)
{
    struct stat st;
    if (l->path && lstat(l->path, &st) == 0 && st.st_dev == l->dev && st.st_ino == l->ino)
        unlink(l->path);
}

static void on_listener_closed(uv_handle_t *handle)
{
    struct listener *l = handle->data;
    handle->data = l->server;
    server_handle_closed(handle);
}

void listener_close_all(struct http_server *s)
{
    for (struct listener *l = s->listeners; l; l = l->next) {
        l->paused = false;
        uv_close((uv_handle_t *)&l->poll, on_listener_closed);
        remove_file(l);
        close(l->fd);
    }
    server_update_tick(s);
}

void listener_free_all(struct http_server *s)
{
    for (struct listener *l = s->listeners, *next; l; l = next) {
        next = l->next;
        free(l->path);
        free(l);
    }
}
