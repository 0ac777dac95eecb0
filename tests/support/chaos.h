/* A random world: a cluster, jobs of every kind, and all that may befall them,
 * drawn from a seed. It is driven through an engine on a virtual clock, and the
 * state is audited after every step.
 *
 * What happens depends on the seed alone, not on what the engine does, as far as
 * that is possible: so worlds with the same seed that differ in how the engine is
 * driven (see struct chaos_options) can be compared line by line. */
#ifndef SUPPORT_CHAOS_H
#define SUPPORT_CHAOS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "engine/engine.h"

struct chaos_options {
    uint64_t seed;
    uint32_t jobs;
    const char *policy;  /* a combination */
    const char *policy2; /* from half-way on; NULL = no switch */
    bool slow_stops;     /* a preemption takes time */
    bool explain;        /* the engine keeps verdicts */
    bool alone;     /* no job shares its units, as in a server, whose journal has no word for it */
    bool backwards; /* what happens at one instant is fed in the reverse order */
    /* Called once before the first step, with no event, and after each that the engine
     * took; may be NULL. */
    void (*observe)(void *ctx, const struct engine *e, const struct event *v, usec_t now);
    void *ctx;
};

struct chaos_result {
    struct str effects; /* what the engine did, see support/effects.h */
    uint64_t steps, decisions;
    uint32_t ended;
    char why[320]; /* what went wrong; empty = nothing did */
};

/* Runs the world until all jobs have ended. False, and out->why, when an invariant
 * breaks, the engine fails, or jobs wait for ever. */
bool chaos_run(const struct chaos_options *o, struct chaos_result *out);
void chaos_done(struct chaos_result *r);

#endif
