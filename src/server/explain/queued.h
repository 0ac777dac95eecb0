/* A job that waits for units. */
#ifndef SERVER_EXPLAIN_QUEUED_H
#define SERVER_EXPLAIN_QUEUED_H

#include "server/explain/explanation.h"

/* It waits for units; also when it is paused. */
void explain_queued(struct explanation *x);
/* What the nodes have for the job. */
struct space {
    unsigned pool;
    units_t size, free; /* of the node with most room, or of all when it may be split */
    int64_t memory;     /* free on the node that has most; -1 = not limited */
    bool drained;       /* no node that is up could ever hold it */
};

/* What the job needs to start: the least that it can run on, or, where that is free
 * and yet it does not run, what it asked for. */
units_t explain_needed(const struct explanation *x, const struct space *s);

#endif
