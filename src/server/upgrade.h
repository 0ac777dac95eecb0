/* The part of a migration of the store that only the server can do, because only it can
 * read requests. */
#ifndef SERVER_UPGRADE_H
#define SERVER_UPGRADE_H

#include "base/err.h"

struct store;

/* Where a migration has added columns that follow from requests, fills them in: a job's
 * sizes and limits, and the grace of an attempt that is being stopped. A job whose request
 * cannot be read keeps what it has. It is written with the turn that is open. */
int upgrade_requests(struct store *store, struct err *err);

#endif
