/* Owns listeners: accepting connections and closing.
 *
 * A listener is paused when it has reached its limit of connections, or when the process has no
 * descriptor left. Further clients wait in the kernel until a connection is closed or until the
 * next tick. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include "http/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/conn.h"
#include "http/crowd.h"
#include "http/internal.h"
#include "http/loop.h"

/* Accepted at once, before other handles of the loop get their turn. */
#define ACCEPT_BURST 64

static void on_connectable(uv_poll_t *poll, int status, int events);

static void pause_listener(struct listener *l)
{
    l->paused = true;
    uv_poll_stop(&l->poll);
    loop_update_tick(l->server);
}

static void resume_listener(struct listener *l)
{
    if (!l->paused || l->closed || l->server->stopping ||
        l->connections >= l->server->limits.connections)
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

static void format_address(const struct sockaddr_storage *from, socklen_t size, char *out,
                           size_t room)
{
    char host[NI_MAXHOST], port[NI_MAXSERV];
    if (getnameinfo((const struct sockaddr *)from, size, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
        snprintf(out, room, strchr(host, ':') ? "[%.45s]:%.5s" : "%.45s:%.5s", host, port);
}

/* Keep-alive: a peer whose machine has vanished is noticed within minutes, even if the server
 * only waits for it. */
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
    c->peer.local = c->known = true;
    c->peer.uid = cred.uid;
    c->peer.gid = cred.gid;
    c->peer.pid = cred.pid;
    return true;
}

/* Passes the connection to MHD, which closes it on failure. on_started (conn.c) picks up
 * `adding`. */
static void add_connection(struct listener *l, int fd, const struct sockaddr_storage *from,
                           socklen_t size)
{
    struct http_server *s = l->server;
    struct conn *c = conn_create(l, fd);
    if (!identify(c, from, size) || !crowd_admit(c)) {
        close(fd);
        conn_free(c);
        return;
    }
    c->peer.tls = !l->local && s->tls;
    c->daemon = c->peer.tls ? s->tls : s->plain;
    s->adding = c;
    MHD_add_connection(c->daemon->mhd, fd, (const struct sockaddr *)from, size);
    conn_free(TAKE(s->adding)); /* NULL if MHD has taken it */
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
    loop_arm(l->server);
}

struct listener *listener_add(struct http_server *s, int fd, bool local, struct err *err)
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

/* Removes the socket's file unless another server has replaced it. */
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
    loop_handle_closed(handle);
}

void listener_close(struct listener *l)
{
    if (l->closed)
        return;
    l->closed = true;
    l->paused = false;
    uv_close((uv_handle_t *)&l->poll, on_listener_closed);
    remove_file(l);
    close(l->fd);
}

void listener_close_all(struct http_server *s)
{
    for (struct listener *l = s->listeners; l; l = l->next)
        listener_close(l);
    loop_update_tick(s);
}

void listener_free_all(struct http_server *s)
{
    for (struct listener *l = s->listeners, *next; l; l = next) {
        next = l->next;
        free(l->path);
        free(l);
    }
}
