/* The policy auto on the live engine: when jobs have come or gone it compares its candidates, some
 * milliseconds in each turn of the loop, and replaces the allocator if another one is better. */
#ifndef SERVER_AUTOMATIC_H
#define SERVER_AUTOMATIC_H

#include "base/str.h"
#include "server/yard.h"

/* Does some of the work. */
void automatic_turn(struct yard *y);
/* When it next has something to do; USEC_NEVER = not before something changes. */
usec_t automatic_due(const struct yard *y);
/* Forgets a comparison that is under way: the policy or the engine changes. */
void automatic_stop(struct yard *y);

/* Appends why the allocator in force was chosen, as a sentence; returns false if it was not. */
bool automatic_reason(const struct yard *y, struct str *out);

#endif
