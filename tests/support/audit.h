/* The invariants of an engine's state, worked out from nothing but the tasks,
 * the jobs and the nodes: neither the engine's own check nor any function of a
 * policy is used. */
#ifndef SUPPORT_AUDIT_H
#define SUPPORT_AUDIT_H

#include "engine/engine.h"

/* What a task held after the step before, to see what it took in this one. */
struct audit_shadow {
    const struct job *job; /* NULL = the slot was empty */
    bool excused;          /* its job was changed while it held units */
    struct slot *at;
    uint32_t n;
    bool runs;
    bool rode;            /* on the units of another one, which it may have taken over */
    units_t limit, share; /* of its CPUs */
    double weight;
    uint8_t list[AXES];
    bool was_held; /* by the user, once: its waiting is then not counted */
    usec_t came;   /* when it was first seen */
};

struct audit {
    struct audit_shadow *shadow; /* by task */
    uint32_t cap;
    char why[256]; /* what is broken */
};

void audit_done(struct audit *a);

/* Looks at the state after a step, and what changed since the one before. False,
 * and a->why, when something is wrong. */
bool audit_step(struct audit *a, const struct engine *e, usec_t now);

/* Looks at the state alone. */
bool audit_state(struct audit *a, const struct engine *e);

#endif
