/* The lease of an attempt: for how long its job may run without word from the server. The
 * server starts the job elsewhere only when the lease must have ended, so the job never runs
 * twice. A pure state machine on a clock that also counts while the machine is suspended.
 *
 * The conductor asks for a renewal, and the server repeats the time of the question in its
 * answer. The lease counts from the question: however long the answer was under way, the
 * conductor never believes in a longer lease than the server. */
#ifndef CONDUCTOR_LEASE_H
#define CONDUCTOR_LEASE_H

#include <stdbool.h>

#include "base/time.h"

struct lease {
    usec_t length; /* 0 = none: the job runs on */
    usec_t until;
    usec_t asked; /* the last question; 0 = none since the last answer */
};

/* The first lease begins now. */
void lease_init(struct lease *l, usec_t length, usec_t now);
/* There is none yet: it is asked for at once. */
void lease_await(struct lease *l, usec_t now);

/* Whether to ask for a renewal now, which marks it as asked. Call it on a connection only. */
bool lease_ask(struct lease *l, usec_t now);
/* A new connection: what was asked on the one before may never be answered. */
void lease_reconnected(struct lease *l);
/* The server's answer to the question of that time. One that was never asked is ignored. */
void lease_renew(struct lease *l, usec_t asked, usec_t length);

bool lease_is_over(const struct lease *l, usec_t now);
/* When to ask, or when it is over; USEC_NEVER = neither. */
usec_t lease_next(const struct lease *l, bool connected);

#endif
