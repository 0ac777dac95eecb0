/* Explains a job that has units. */
#ifndef SERVER_EXPLAIN_RUNNING_H
#define SERVER_EXPLAIN_RUNNING_H

#include "server/explain/explanation.h"

void explain_running(struct explanation *x);
/* It is being stopped. */
void explain_stopping(struct explanation *x);

#endif
