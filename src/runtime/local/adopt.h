/* What an earlier server has left running. */
#ifndef RUNTIME_LOCAL_ADOPT_H
#define RUNTIME_LOCAL_ADOPT_H

#include "runtime/runtime.h"

/* As in struct runtime_ops. */
void adopt_attempt(struct runtime *r, struct attempt_id id, const char *node,
                   const struct runtime_size *size);
void adopt_sweep(struct runtime *r);

#endif
