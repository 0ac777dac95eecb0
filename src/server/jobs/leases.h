/* Leases: how a job of a lost node is started elsewhere without ever running twice.
 *
 * The conductor of an attempt on another machine asks for its lease to be renewed, and stops its
 * job when the lease is over (conductor/lease.h). So when a node is lost, its attempts have ended
 * once the lease and the job's grace have passed since the server last renewed it: then they are
 * given up. When the node returns, what may be left of them there is killed before anything
 * starts on it. An attempt without a lease waits for its node. */
#ifndef SERVER_JOBS_LEASES_H
#define SERVER_JOBS_LEASES_H

#include "server/yard.h"

/* A new attempt: the lease that its conductor is given. */
void lease_begin(struct yard *y, struct attempt *a, const struct terms *terms);
/* Its start has ended, or it was found at the start of the server: what was under way to its
 * conductor may still arrive. */
void lease_started(struct yard *y, struct attempt *a);
/* Its conductor asks for a renewal. */
void lease_grant(struct yard *y, struct attempt *a, const struct lease_request *m);

/* Gives up the attempts of lost nodes whose leases are over; returns the engine time of the
 * next. */
usec_t lease_look(struct yard *y, usec_t now);
/* What was left of a fenced attempt is killed, or was not there. */
void lease_killed(struct yard *y, struct attempt *a);

#endif
