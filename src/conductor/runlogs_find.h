/* Finding the files that a job logs to. */
#ifndef CONDUCTOR_RUNLOGS_FIND_H
#define CONDUCTOR_RUNLOGS_FIND_H

#include "conductor/runlogs.h"

/* Adds files that are not known yet. */
void runlogs_find(struct runlogs *l, const struct tree *tree);

#endif
