/* The order in which a size is carried out, so that threads and limits agree: more threads
 * than CPUs waste time waiting for each other, fewer waste CPUs. Growing raises the limits
 * first, then the threads; shrinking lowers the threads first, and the limits when they
 * have followed or a bound has passed. What needs CPUs that are about to be given back
 * waits that long. */
#ifndef SERVER_JOBS_SIZE_H
#define SERVER_JOBS_SIZE_H

#include "server/yard.h"

/* Begins what its size asks for. */
void size_pursue(struct yard *y, struct attempt *a, const struct live_job *j);
/* Its limits have been set, or could not be. */
void size_resized(struct yard *y, struct attempt *a);
/* Whether it may have CPUs of its node that others have been given already: it shrinks, or is
 * about to be frozen, and that is not in force yet, or nobody knows what is. */
bool size_gives(const struct attempt *a);
/* Whether it has to wait for CPUs of its node; then it is pursued later. */
bool size_must_wait(struct yard *y, struct attempt *a);
/* Those that wait for CPUs of the node may not have to any more. */
void size_wake(struct yard *y, uint32_t node);
/* Its threads have come down to what `cpus` allows. */
void size_applied(struct yard *y, struct attempt *a, double cpus);
/* Ends the waiting for its threads: they have followed, are too late, or are gone. */
void size_shrunk(struct yard *y, struct attempt *a);
/* Engine time at which the bound of one that is shrinking passes; ends those that have. */
usec_t size_look(struct yard *y, usec_t now);

#endif
