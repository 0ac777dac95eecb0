/* The time between two attempts that one conductor runs. */
#ifndef CONDUCTOR_NEXT_H
#define CONDUCTOR_NEXT_H

#include "base/str.h"
#include "conductor/link.h"

/* Waits until the server has another attempt, and writes its directory. -1 when it has
 * none, or is gone; then there is no connection any more. Any signal ends the process. */
int next_wait(struct link_kept *kept, struct str *directory);

#endif
