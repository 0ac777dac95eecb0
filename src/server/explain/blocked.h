/* Explains a job that is not in the queue. */
#ifndef SERVER_EXPLAIN_BLOCKED_H
#define SERVER_EXPLAIN_BLOCKED_H

#include "server/explain/explanation.h"

/* The job is on hold, or waits for other jobs, a node or a retry. */
void explain_blocked(struct explanation *x);

#endif
