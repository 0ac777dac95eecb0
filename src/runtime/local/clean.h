/* Cleaning up attempts: kills what is left of them until nothing is. */
#ifndef RUNTIME_LOCAL_CLEAN_H
#define RUNTIME_LOCAL_CLEAN_H

#include "runtime/runtime.h"

/* OP_CLEAN. 1 when processes are still dying: then clean_turn() completes it. */
int clean_begin(struct runtime *r, struct runtime_op *op, struct err *err);
/* The same for an attempt that nobody asks for. */
void clean_unknown(struct runtime *r, struct attempt_id id);

/* As in struct runtime_ops: looks again at those that are dying. */
usec_t clean_due(const struct runtime *r);
void clean_turn(struct runtime *r, usec_t now);

#endif
