/* The conductors of the fake runtime and their simulated jobs. */
#ifndef RUNTIME_FAKE_CONDUCTOR_H
#define RUNTIME_FAKE_CONDUCTOR_H

#include "runtime/fake_world.h"

/* Parses the command's description of the job. */
void fake_conductor_read(struct fake_attempt *a, const struct launch_spec *spec);

/* The time of its next action; performs the actions that are due. */
usec_t fake_conductor_due(const struct fake_attempt *a);
void fake_conductor_turn(struct fake *f, struct fake_attempt *a);

/* Handles a message from the server. */
void fake_conductor_hear(struct fake *f, struct fake_attempt *a, const struct to_conductor *m);

/* Updates its work to now, before it is resized, frozen or thawed. */
void fake_conductor_advance(const struct fake *f, struct fake_attempt *a);

/* Ends its link and reports that to the server. */
/* Whether its command makes progress, or may do so without a word from the server. */
bool fake_may_train(const struct fake *f, const struct fake_attempt *a);
/* Its engine freezes or thaws it. What was frozen for longer than its lease goes on when that is
 * renewed. */
void fake_conductor_freeze(struct fake *f, struct fake_attempt *a, bool freeze);
void fake_conductor_cut(struct fake *f, struct fake_attempt *a);
/* Lets it connect to the server, if it has something to report, as soon as its node is
 * reachable. */
void fake_conductor_call(struct fake *f, struct fake_attempt *a);
/* Kills it and all its processes. */
void fake_conductor_kill(struct fake *f, struct fake_attempt *a);

#endif
