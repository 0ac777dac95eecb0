/* What must be in the store after every turn. */
#ifndef SUPPORT_PROMISES_STORE_H
#define SUPPORT_PROMISES_STORE_H

#include "support/day.h"

/* Rows of jobs and attempts are what the server has in memory; a job that it has no more is
 * over. Brings d->jobs up to date. */
bool promises_check_rows(struct day *d);
/* Events have come one after the other, and tell what became of each job. */
bool promises_check_events(struct day *d);
/* What engines were told to do is on disk: each attempt that they know of has its row. */
bool promises_check_engines(struct day *d);

#endif
