/* A job that is not in the queue. */
#ifndef SERVER_EXPLAIN_BLOCKED_H
#define SERVER_EXPLAIN_BLOCKED_H

#include "server/explain/explanation.h"

/* It is not in the queue: held, waiting for others or for a retry. */
void explain_blocked(struct explanation *x);

#endif
