/* Explains a job that waits for units. */
#ifndef SERVER_EXPLAIN_QUEUED_H
#define SERVER_EXPLAIN_QUEUED_H

#include "server/explain/explanation.h"

/* The job is queued or paused. */
void explain_queued(struct explanation *x);

/* What the nodes that accept jobs have for the job. */
struct space {
    unsigned pool;
    units_t size, free; /* of the node with most room, or of all when it may be split */
    int64_t memory;     /* most that is free on one node; -1 = not limited */
    bool closed;        /* too small for the job, even if they were empty */
};

/* What the job needs to start: its minimum, or what it requested if its minimum is free and
 * it still waits. */
units_t explain_needed(const struct explanation *x, const struct space *s);

#endif
