/* The operations of the fake engine. */
#ifndef RUNTIME_FAKE_OPS_H
#define RUNTIME_FAKE_OPS_H

#include "runtime/fake_world.h"

void fake_ops_begin(struct fake *f, struct runtime_op *op);
/* The next instant at which one arrives or is answered. */
usec_t fake_ops_due(const struct fake *f);
/* Makes those arrive, and answers those, whose time has come: in the order in which they
 * were begun. */
void fake_ops_run(struct fake *f);
/* Their server is gone. What is under way may still arrive, as in a real engine. */
void fake_ops_orphan(struct fake *f);

/* Kills what is left of the attempt and frees all that it has. */
void fake_ops_clean(struct fake *f, struct fake_attempt *a);

#endif
