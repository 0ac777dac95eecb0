/* Numbers in a progress report, by name. */
#ifndef SERVER_JOBS_REPORTED_H
#define SERVER_JOBS_REPORTED_H

#include "protocol/to_server.h"

/* The number of this name, as a user writes it: a metric, the loss, the step or the epoch. NAN
 * if the report does not have it. */
double reported_number(const struct progress_message *m, const char *name);

#endif
