/* Hysteresis: changes that are not worth their cost. */
#ifndef ENGINE_SETTLE_H
#define ENGINE_SETTLE_H

#include "engine/engine.h"

/* Takes back changes that cost more than they bring. */
void settle_plan(const struct engine *e, struct plan *plan);

#endif
