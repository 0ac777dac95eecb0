/* What docs/server.md promises, as checks of a simulated day. */
#ifndef SUPPORT_PROMISES_H
#define SUPPORT_PROMISES_H

#include "support/day.h"

/* What holds after every turn: no job is lost or runs twice, no node has more to do than it
 * can, dependencies and limits are kept, what the server knows is in the store. */
bool promises_check(struct day *d);
/* What holds once no operation has failed for a while: what is wanted of each attempt is in
 * force, and those that users have stopped are gone. */
bool promises_check_settled(struct day *d);
/* What holds once the world has been quiet for long enough: all that can end has ended, as
 * it should, and nothing is left of it. */
bool promises_check_quiet(struct day *d);

#endif
