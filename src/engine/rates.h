/* How fast tasks progress, and what they get of their nodes' CPUs. */
#ifndef ENGINE_RATES_H
#define ENGINE_RATES_H

#include "engine/engine.h"

/* Divides the CPUs of stale nodes and sets the rates of all touched tasks. */
void rates_refresh(struct engine *e, usec_t now);

#endif
