/* Applies sizes in an order that keeps threads and limits in agreement: too many threads wait
 * for each other, too few leave CPUs idle. Growing raises the limits first, then the threads.
 * Shrinking lowers the threads first, then the limits, when the threads have followed or a
 * bound has passed. Attempts that need CPUs which others are about to free wait that long. */
#ifndef SERVER_JOBS_SIZE_H
#define SERVER_JOBS_SIZE_H

#include "server/yard.h"

/* Begins the next step towards its size. */
void size_pursue(struct yard *y, struct attempt *a, const struct live_job *j);
/* Its limits have been set, or could not be. */
void size_resized(struct yard *y, struct attempt *a);
/* Whether it may still use CPUs that are assigned to others: it is to shrink or to be frozen,
 * and that is not in force yet, or it is unknown what is. */
bool size_gives(const struct attempt *a);
/* Whether it must wait for CPUs of its node. If so, it is pursued again later. */
bool size_must_wait(struct yard *y, struct attempt *a);
/* Pursues attempts that wait for CPUs of the node. */
void size_wake(struct yard *y, uint32_t node);
/* Its threads have followed to `cpus`. */
void size_applied(struct yard *y, struct attempt *a, double cpus);
/* Stops waiting for its threads: they have followed, are too late, or are gone. */
void size_shrunk(struct yard *y, struct attempt *a);
/* Stops waiting for threads that are too late; returns the engine time of the next bound. */
usec_t size_look(struct yard *y, usec_t now);

#endif
