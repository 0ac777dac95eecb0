/* A job that is over. */
#ifndef SERVER_EXPLAIN_OVER_H
#define SERVER_EXPLAIN_OVER_H

#include "server/explain/explanation.h"
#include "store/jobs.h"

/* How it ended. */
void explain_over(struct explanation *x, const struct job_row *row);

#endif
