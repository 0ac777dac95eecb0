/* The conductor's event loop: descriptors and a few numbered timers. It sleeps until there is
 * something to do. */
#ifndef CONDUCTOR_LOOP_H
#define CONDUCTOR_LOOP_H

#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

enum { LOOP_TIMERS = 12 };

struct loop_watch {
    int fd; /* -1 = none */
    void (*ready)(void *ctx);
    void *ctx;
    uint32_t events; /* as in epoll; 0 = not in the loop */
};

struct loop {
    int epoll;
    usec_t timers[LOOP_TIMERS]; /* steady clock; USEC_NEVER = not set */
    void (*fire)(void *ctx, unsigned timer);
    void *ctx;
};

/* `fire` is called with ctx when a timer is due; the timer is unset first. */
int loop_init(struct loop *l, void (*fire)(void *ctx, unsigned timer), void *ctx, struct err *err);
void loop_done(struct loop *l);

/* Waits for these events (EPOLLIN ...) on w->fd; 0 = for none, not even a hang-up. The watch is
 * borrowed as long as it waits for any. */
void loop_wait_for(struct loop *l, struct loop_watch *w, uint32_t events);
/* Stops waiting and closes the descriptor, if there is one. */
void loop_close(struct loop *l, struct loop_watch *w);

void loop_set_timer(struct loop *l, unsigned timer, usec_t when);

/* Sleeps until something is due, then handles one descriptor and all due timers. A handler may
 * close any watch. */
void loop_turn(struct loop *l);

#endif
