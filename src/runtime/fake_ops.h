/* The operations of the fake engine. */
#ifndef RUNTIME_FAKE_OPS_H
#define RUNTIME_FAKE_OPS_H

#include "runtime/fake_world.h"

void fake_ops_begin(struct fake *f, struct runtime_op *op);
/* The next time at which an operation arrives or completes. */
usec_t fake_ops_due(const struct fake *f);
/* Lets due operations arrive and complete, in the order in which they were begun. */
void fake_ops_run(struct fake *f);
/* Their server is gone. Operations in progress may still arrive, as in a real engine. */
void fake_ops_orphan(struct fake *f);

/* Kills what is left of the attempt and frees its resources. */
void fake_ops_clean(struct fake *f, struct fake_attempt *a);

#endif
