/* The number of threads of a job that can change it while it runs: a page of memory shared with
 * the job (malleable/page.h), and the order that is not obeyed yet. A job has a page if its
 * specification has "malleable". */
#ifndef CONDUCTOR_THREADS_H
#define CONDUCTOR_THREADS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/time.h"
#include "protocol/launch_spec.h"
#include "protocol/to_server.h"

struct threads {
    int fd; /* of the page's file; -1 = no page */
    struct page *page;
    bool waits;                  /* an order is pending */
    bool late;                   /* the pending order was answered as late */
    bool first;                  /* the pending order is the first one */
    struct applied_message asks; /* id and CPUs of the pending order */
    uint32_t generation;
    bool watches;    /* no order yet: watch only for `misfit` */
    uint32_t misfit; /* as last reported */
    usec_t since, next, pause;
};

/* Creates the page, as the file `control` in the job's directory, with the first order, and
 * names it and the library in the job's environment (texts are in the arena). Does nothing
 * without "malleable". On failure the job has no page. */
int threads_open(struct threads *t, int dir, struct launch_spec *spec, struct arena *a, usec_t now,
                 struct err *err);
void threads_done(struct threads *t);

/* Gives an order; `asks` has its id and CPUs. True if there is something to answer now: the
 * command itself, if nothing changes, or an earlier command that this one replaces. */
bool threads_order(struct threads *t, usec_t now, const struct applied_message *asks,
                   uint32_t threads, struct applied_message *out);

/* When to look at the page; USEC_NEVER = nothing is pending. */
usec_t threads_next(const struct threads *t);

/* Checks whether the order is obeyed. True if there is something to answer: that it is, or that
 * the job is late. An order that is obeyed late is answered twice. */
bool threads_look(struct threads *t, usec_t now, struct applied_message *out);

/* Which process wants a signal about orders, and which signal; false = none. */
bool threads_listener(struct threads *t, pid_t *pid, int *signal);

#endif
