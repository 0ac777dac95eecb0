/* The start of attempts. */
#ifndef RUNTIME_LOCAL_START_H
#define RUNTIME_LOCAL_START_H

#include "runtime/runtime.h"

/* Whether this machine can give that much. */
int start_check_size(const struct runtime *r, struct attempt_id id, const struct runtime_size *s,
                     struct err *err);

/* OP_START. When it fails the attempt holds nothing. */
int start_attempt(struct runtime *r, struct runtime_op *op, struct err *err);

#endif
