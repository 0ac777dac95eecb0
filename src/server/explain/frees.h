/* What would let a job start. */
#ifndef SERVER_EXPLAIN_FREES_H
#define SERVER_EXPLAIN_FREES_H

#include "server/explain/forecast.h"
#include "server/explain/queued.h"

/* Adds what would let the job start. */
void explain_frees(struct explanation *x, const struct space *space, const struct forecast *f);

#endif
