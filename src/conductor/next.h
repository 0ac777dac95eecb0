/* The time between two attempts of one conductor. */
#ifndef CONDUCTOR_NEXT_H
#define CONDUCTOR_NEXT_H

#include "base/str.h"
#include "conductor/link.h"

/* Waits until the server has another attempt, and stores its directory. -1 if it has none or is
 * gone; the connection is closed then. Any signal ends the process. */
int next_wait(struct link_kept *kept, struct str *directory);

#endif
