/* The journal: what the engine was told and what it decided, one JSON object each, so
 * that another engine can be driven the same way and must decide the same. */
#ifndef JOURNAL_JOURNAL_H
#define JOURNAL_JOURNAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "engine/engine.h"

struct store;

/* Kinds of rows: "boot" (configuration and nodes) is the first of a stretch; "event",
 * each that the engine has taken, but for ticks that made no decision; "plan", right
 * behind the tick that made it. */

/* The configuration and the nodes of an engine that has no tasks yet. */
void journal_write_boot(const struct engine *e, struct str *out);
/* An event as it is given to engine_step() at `now`. */
void journal_write_event(const struct event *event, usec_t now, struct str *out);
/* The plan of the decision that the last step made, with its reasons, and the
 * effects of it: the canonical text, the same bytes for the same decision. To be
 * called before the next step. */
void journal_write_plan(const struct engine *e, usec_t now, struct str *out);

/* What a replay found. */
struct replay_result {
    uint64_t boots, events, decisions;
    uint64_t passed_over; /* rows of a stretch whose beginning was trimmed, or after which
                           * events no longer fit what was decided */
    uint64_t differing;
    int64_t first_seq;  /* of the first row that differs; 0 = none */
    struct str was, is; /* its text, recorded and reproduced */
};

/* Drives a new engine through a stretch of the journal (0 = all of them) and compares
 * every plan with the one that was recorded. Fails on a journal that cannot be read
 * (ERR_IO, with the row's number and what is wrong) and on a stretch that is not
 * there (ERR_NOT_FOUND); a difference is no failure. */
int journal_replay(struct store *s, int64_t boot, struct replay_result *out, struct err *err);
void replay_result_done(struct replay_result *r);

#endif
