/* A yard that is filled by hand: an engine, live jobs and their rows in a store, but no
 * server and no processes. For tests of what is said about jobs. */
#ifndef SUPPORT_HAND_YARD_H
#define SUPPORT_HAND_YARD_H

#include <jansson.h>

#include "server/yard.h"
#include "support/store_dir.h"

struct hand_yard {
    struct store_dir *dir;
    struct arena arena;
    struct yard y;
};

/* `state` is that of a STORE_TEST(). Nodes and policy as on the command line. */
void hand_begin(struct hand_yard *f, void **state, const char *nodes, const char *policy);
void hand_end(struct hand_yard *f);

/* An event for the engine, now. */
void hand_step(struct hand_yard *f, struct event v);
/* A job of these CPUs that is known to the store and the yard, not to the engine. */
struct live_job *hand_add(struct hand_yard *f, const char *name, units_t min, units_t max);
/* Into the queue; returns it. */
struct live_job *hand_offer(struct hand_yard *f, struct live_job *j);
/* Lets the engine decide; what it starts has an attempt that runs since 10 seconds. */
void hand_decide(struct hand_yard *f);
/* It says how many steps it has, makes 12 a second, and will need this long. */
void hand_report(struct hand_yard *f, struct live_job *j, double seconds_left);

/* The explanation of the job; the caller owns it. */
json_t *hand_explain(struct hand_yard *f, const struct live_job *j);
/* Fail the test, and print all that was said, when this was not. */
void said_summary(const json_t *o, const char *text);
void said_reason(const json_t *o, const char *code, const char *text);
void said_free(const json_t *o, const char *text);
/* What it said of the start: why then, and in how many seconds (NAN = not known). */
const char *said_basis(const json_t *o);
double said_start(const json_t *o);

#endif
