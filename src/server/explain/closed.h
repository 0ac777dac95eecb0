/* Explains why no node accepts a job. */
#ifndef SERVER_EXPLAIN_CLOSED_H
#define SERVER_EXPLAIN_CLOSED_H

#include "server/explain/explanation.h"

/* The job is queued or paused, and no node that could run it accepts new jobs. Adds the
 * state of these nodes as a reason, and what would open them again. */
void explain_closed(struct explanation *x);

#endif
