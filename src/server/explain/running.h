/* A job that has units. */
#ifndef SERVER_EXPLAIN_RUNNING_H
#define SERVER_EXPLAIN_RUNNING_H

#include "server/explain/explanation.h"

/* It has units; it is being stopped. */
void explain_running(struct explanation *x);
void explain_stopping(struct explanation *x);

#endif
