/* Explains a job that has ended. */
#ifndef SERVER_EXPLAIN_OVER_H
#define SERVER_EXPLAIN_OVER_H

#include "server/explain/explanation.h"
#include "store/jobs.h"

void explain_over(struct explanation *x, const struct job_row *row);

#endif
