/* What became of an attempt. */
#ifndef RUNTIME_LOCAL_FATE_H
#define RUNTIME_LOCAL_FATE_H

#include "runtime/runtime.h"

/* OP_SETTLE. */
int fate_settle(const struct runtime *r, struct runtime_op *op, struct err *err);

/* Whether the attempt in this directory was claimed, by a conductor or as given up. */
int fate_is_decided(const char *dir, bool *out, struct err *err);

#endif
