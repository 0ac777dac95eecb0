/* What is done to attempts on this machine; the functions are those of struct runtime_ops.
 * Nothing here waits, so every operation is complete when it has begun, but for the
 * cleaning up of processes that are still dying. */
#ifndef RUNTIME_LOCAL_OPERATIONS_H
#define RUNTIME_LOCAL_OPERATIONS_H

#include "runtime/runtime.h"

void operation_begin(struct runtime *r, struct runtime_op *op);
void operation_adopt(struct runtime *r, struct attempt_id id, const char *node,
                     const struct runtime_size *size);
void operation_sweep(struct runtime *r);
/* Looks again at what is being cleaned up. */
void operation_turn(struct runtime *r, usec_t now);

#endif
