/* Which tasks make room for a plan, and which grants must wait for room. */
#ifndef ENGINE_YIELD_H
#define ENGINE_YIELD_H

#include "engine/engine.h"

/* By task: it is paused, or would be, and must give up its memory for the plan. NULL
 * if no task must. */
const bool *yield_memory(struct engine *e, const struct plan *plan);
/* By grant: what it needs becomes free only after others have stopped. NULL if no
 * grant waits. */
const bool *yield_wait(struct engine *e, const struct plan *plan, const bool *yields);

#endif
