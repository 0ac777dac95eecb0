/* The invariants of a plan. */
#ifndef ENGINE_CHECK_H
#define ENGINE_CHECK_H

#include "engine/engine.h"

/* Checks every invariant; ERR_INTERNAL names the broken one. */
int check_plan(const struct engine *e, const struct plan *plan, struct err *err);

#endif
