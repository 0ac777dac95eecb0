/* Starts a conductor that lives on without us. */
#ifndef RUNTIME_LOCAL_SPAWN_H
#define RUNTIME_LOCAL_SPAWN_H

#include <stdint.h>

#include "base/err.h"

/* Runs PROGRAM DIR in a session of its own, with /dev/null for its standard streams,
 * no other descriptor, no signal blocked or ignored, in the root directory. It may open
 * this many descriptors (0 = as many as we may). It is not our child: nothing has to be
 * waited for. Fails when the program cannot be executed. */
int spawn_detached(const char *program, const char *dir, uint64_t descriptors, int64_t *pid,
                   struct err *err);

#endif
