/* A small cluster with an engine, for tests that drive it step by step. Every
 * function fails the test when the engine does. */
#ifndef SUPPORT_WORLD_H
#define SUPPORT_WORLD_H

#include "engine/engine.h"

struct world {
    struct arena arena;
    struct engine e;
    usec_t now;
    uint32_t jobs;
};

struct world_options {
    bool slow_stops; /* EVENT_STOPPED is up to the test */
    bool explain;
    usec_t resched_min, min_run;
};

/* The nodes as on the command line, "2x4" or "1x8c@16g"; a policy likewise. */
void world_init(struct world *w, const char *nodes, const char *policy,
                const struct world_options *o);
void world_done(struct world *w);

/* A job with the fields that `like` sets; units are given in thousandths, work in
 * microseconds. Its id is the number of jobs before it, its name a letter. */
const struct job *world_job(struct world *w, struct job like);

/* Takes an event at this time. Times are seconds. */
void world_take(struct world *w, double at, struct event event);
/* Submits such a job and returns its task. */
uint32_t world_submit(struct world *w, double at, struct job like);
/* Ends the task. */
void world_end(struct world *w, double at, uint32_t task);
void world_set_node(struct world *w, double at, uint32_t node, enum node_state state);
/* Lets it decide, which must be due, and checks that these effects come out, one a
 * line as in support/effects.h. */
void world_decide(struct world *w, double at, const char *effects);
/* The same for the last step, whatever it was. */
void world_expect(const struct world *w, const char *effects);

static inline const struct task *world_task(const struct world *w, uint32_t task)
{
    return &w->e.tasks[task];
}

#endif
