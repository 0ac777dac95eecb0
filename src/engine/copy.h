/* Copying an engine. */
#ifndef ENGINE_COPY_H
#define ENGINE_COPY_H

#include "engine/engine.h"

/* Makes *to another engine in the same state, which can go its own way. It borrows the
 * same jobs and names; the last plan is not copied. */
void engine_copy(struct engine *to, const struct engine *from);

#endif
