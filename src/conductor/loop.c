/* Owns waiting. It takes one event at a time from the kernel, so a handler can close any other
 * watch without leaving a stale event; the kernel rotates among the descriptors that are ready. */
#include "conductor/loop.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"

int loop_init(struct loop *l, void (*fire)(void *ctx, unsigned timer), void *ctx, struct err *err)
{
    int fd = epoll_create1(EPOLL_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_IO, "cannot make an epoll descriptor: %s", strerror(errno));
    *l = (struct loop){.epoll = fd, .fire = fire, .ctx = ctx};
    for (unsigned i = 0; i < LOOP_TIMERS; i++)
        l->timers[i] = USEC_NEVER;
    return 0;
}

void loop_done(struct loop *l)
{
    close(l->epoll);
    l->epoll = -1;
}

void loop_wait_for(struct loop *l, struct loop_watch *w, uint32_t events)
{
    if (w->fd < 0 || w->events == events)
        return;
    struct epoll_event e = {.events = events, .data.ptr = w};
    int op = !events ? EPOLL_CTL_DEL : w->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    if (epoll_ctl(l->epoll, op, w->fd, &e) == 0)
        w->events = events;
}

void loop_close(struct loop *l, struct loop_watch *w)
{
    if (w->fd < 0)
        return;
    loop_wait_for(l, w, 0);
    close(w->fd);
    w->fd = -1;
}

void loop_set_timer(struct loop *l, unsigned timer, usec_t when)
{
    l->timers[timer] = when;
}

/* Rounded up, so that the timer is due when epoll_wait returns. */
static int milliseconds_left(const struct loop *l)
{
    usec_t first = USEC_NEVER;
    for (unsigned i = 0; i < LOOP_TIMERS; i++)
        if (l->timers[i] < first)
            first = l->timers[i];
    if (first == USEC_NEVER)
        return -1;
    usec_t left = first - clock_read_steady();
    if (left <= 0)
        return 0;
    usec_t ms = left / 1000 + (left % 1000 != 0);
    return ms < INT_MAX ? (int)ms : INT_MAX;
}

static void fire_timers(struct loop *l)
{
    usec_t now = clock_read_steady();
    for (unsigned i = 0; i < LOOP_TIMERS; i++) {
        if (l->timers[i] > now)
            continue;
        l->timers[i] = USEC_NEVER;
        l->fire(l->ctx, i);
    }
}

void loop_turn(struct loop *l)
{
    struct epoll_event e;
    if (epoll_wait(l->epoll, &e, 1, milliseconds_left(l)) == 1) {
        const struct loop_watch *w = e.data.ptr;
        w->ready(w->ctx);
    }
    fire_timers(l);
}
