/* What each event changes in the engine's state. */
#ifndef ENGINE_EVENT_H
#define ENGINE_EVENT_H

#include "engine/engine.h"

/* Whether the event fits the state as it is. */
int event_check(const struct engine *e, const struct event *v, struct err *err);
/* Changes the state as the event says. A tick changes nothing. */
int event_take(struct engine *e, const struct event *v, usec_t now, struct err *err);

#endif
