/* Owns the watching for clients that hang up while their connection is suspended and MHD ignores
 * it: a separate epoll descriptor, which the loop watches. It is level-triggered, and a connection
 * that fired is removed at once.
 *
 * A unix peer is gone when it has closed its socket; one that has only shut down its writing side
 * still reads. On TCP the two cannot be distinguished, and both count as gone, as in other
 * servers. */
#include "http/watch.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "http/conn.h"
#include "http/internal.h"
#include "http/loop.h"

#define WATCH_EVENTS 64

static void on_hang_up(uv_poll_t *poll, int status, int events)
{
    struct http_server *s = poll->data;
    struct epoll_event fired[WATCH_EVENTS];
    (void)status;
    (void)events;
    int n = epoll_wait(s->watch_fd, fired, WATCH_EVENTS, 0);
    /* Connections are freed only inside MHD, so all of these still exist. */
    for (int i = 0; i < n; i++)
        conn_abandon(fired[i].data.ptr);
}

int watch_open(struct http_server *s, struct err *err)
{
    s->watch_fd = epoll_create1(EPOLL_CLOEXEC);
    if (s->watch_fd < 0)
        return err_set(err, ERR_INTERNAL, "cannot watch connections: %s", strerror(errno));
    int rc = uv_poll_init(s->loop, &s->watch, s->watch_fd);
    if (rc < 0)
        return err_set(err, ERR_INTERNAL, "cannot watch connections: %s", uv_strerror(rc));
    s->watch.data = s;
    s->handles++;
    uv_poll_start(&s->watch, UV_READABLE, on_hang_up);
    return 0;
}

void watch_close(struct http_server *s)
{
    if (s->watch.data)
        uv_close((uv_handle_t *)&s->watch, loop_handle_closed);
    if (s->watch_fd >= 0)
        close(s->watch_fd);
    s->watch_fd = -1;
}

void watch_add(struct conn *c)
{
    struct epoll_event event = {
        .events = c->listener->local ? 0 : EPOLLRDHUP,
        .data.ptr = c,
    };
    if (!c->watched && epoll_ctl(c->server->watch_fd, EPOLL_CTL_ADD, c->fd, &event) == 0)
        c->watched = true;
}

void watch_remove(struct conn *c)
{
    if (c->watched)
        epoll_ctl(c->server->watch_fd, EPOLL_CTL_DEL, c->fd, NULL);
    c->watched = false;
}
