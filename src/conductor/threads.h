/* The number of threads of a job that can change it while it runs: a page of memory that
 * the job shares with its conductor (malleable/page.h), and the order that has not been
 * obeyed yet. A job has a page if its specification says "malleable". */
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
    int fd; /* of the page's file; -1 = the job has no page */
    struct page *page;
    bool waits;                  /* for what follows */
    bool late;                   /* it does, but has answered already */
    bool first;                  /* what it waits for is the order that the job began with */
    struct applied_message asks; /* id and cpus */
    uint32_t generation;
    bool watches;    /* no order was given yet: only `misfit` is looked for */
    uint32_t misfit; /* as it was answered last */
    usec_t since, next, pause;
};

/* Makes the page, as the file `control` of the attempt's directory, with the first order,
 * and names it and the library in the job's environment (texts are in the arena). Without
 * "malleable" there is none. On failure the job has no page. */
int threads_open(struct threads *t, int dir, struct launch_spec *spec, struct arena *a, usec_t now,
                 struct err *err);
void threads_done(struct threads *t);

/* Gives an order for a size, `asks` has its id and CPUs. True when there is something to answer
 * now: to the command itself, when nothing changes, or to an earlier one that nobody waits for any
 * longer. */
bool threads_order(struct threads *t, usec_t now, const struct applied_message *asks,
                   uint32_t threads, struct applied_message *out);

/* When to look at the page; USEC_NEVER = nothing is waited for. */
usec_t threads_next(const struct threads *t);

/* Looks whether the order is obeyed; true when that, or that it is late, is the answer.
 * Who is late and obeys after all has two. */
bool threads_look(struct threads *t, usec_t now, struct applied_message *out);

/* Who wants to be told of an order, and by which signal; false = nobody. */
bool threads_listener(struct threads *t, pid_t *pid, int *signal);

#endif
