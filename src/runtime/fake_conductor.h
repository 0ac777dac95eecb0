/* The conductors of the fake runtime and the jobs that they pretend to run. */
#ifndef RUNTIME_FAKE_CONDUCTOR_H
#define RUNTIME_FAKE_CONDUCTOR_H

#include "runtime/fake_world.h"

/* Reads what the command pretends to be. */
void fake_conductor_read(struct fake_attempt *a, const struct launch_spec *spec);

/* When it next does something by itself; does it. */
usec_t fake_conductor_due(const struct fake_attempt *a);
void fake_conductor_turn(struct fake *f, struct fake_attempt *a);

/* The server says something to it. */
void fake_conductor_hear(struct fake *f, struct fake_attempt *a, const struct to_conductor *m);

/* Brings its work up to now, before its size or freezing changes. */
void fake_conductor_advance(const struct fake *f, struct fake_attempt *a);

/* Its link ends, and the server is told. */
void fake_conductor_cut(struct fake *f, struct fake_attempt *a);
/* It connects to the server, if it has anything to say, as soon as its node can be
 * reached. */
void fake_conductor_call(struct fake *f, struct fake_attempt *a);
/* It is gone, with all its processes. */
void fake_conductor_kill(struct fake *f, struct fake_attempt *a);

#endif
