/* What users do on a simulated day. */
#ifndef SUPPORT_DAY_USERS_H
#define SUPPORT_DAY_USERS_H

#include "support/day.h"

/* Submits a job, an array or a batch. */
void day_submit(struct day *d);
/* Gives a command to a job, to a node or to the server. */
void day_command(struct day *d);
/* Undoes what keeps jobs from running: holds and drained nodes. */
void day_release_all(struct day *d);

#endif
