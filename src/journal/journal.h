/* The journal: what the engine was told and what it decided, one JSON object each, so that
 * another engine can be driven the same way and must decide the same. */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"

/* Kinds of rows: "boot" (configuration and nodes) begins a stretch; "event" is an event that the
 * engine has accepted, except ticks without a decision; "plan" follows the tick that made it. */

/* The configuration and the nodes of an engine that has no tasks yet. */
void journal_write_boot(const struct engine *e, struct str *out);
/* An event as passed to engine_step() at `now`. */
void journal_write_event(const struct event *event, usec_t now, struct str *out);
/* The plan of the last step's decision, with its reasons and effects. The text is canonical: the
 * same bytes for the same decision. Call it before the next step. */
void journal_write_plan(const struct engine *e, usec_t now, struct str *out);

#endif
