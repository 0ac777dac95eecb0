/* The operations on attempts. Nothing here waits: each is complete when it has begun,
 * except cleaning up processes that are still dying. */
#ifndef RUNTIME_LOCAL_OPERATIONS_H
#define RUNTIME_LOCAL_OPERATIONS_H

#include "runtime/runtime.h"

/* As in struct runtime_ops. */
void operation_begin(struct runtime *r, struct runtime_op *op);

#endif
