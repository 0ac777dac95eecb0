/* Carrying out a plan. */
#ifndef ENGINE_APPLY_H
#define ENGINE_APPLY_H

#include "engine/engine.h"

/* Carries out a plan that has been checked. */
void apply_plan(struct engine *e, const struct plan *plan, usec_t now);
/* Moves a running task to a node that has room for n units of it. */
void apply_move(struct engine *e, uint32_t task, uint32_t node, units_t n, usec_t now);
/* A paused task gives up its memory and goes back to the queue. */
void apply_evict(struct engine *e, uint32_t task);

#endif
