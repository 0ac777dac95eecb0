/* The part of a store migration that needs to read requests, which the store cannot. */
#ifndef SERVER_UPGRADE_H
#define SERVER_UPGRADE_H

#include "base/err.h"

struct store;

/* Fills columns that a migration added and that are derived from requests: a job's sizes and
 * limits, and the grace of an attempt that is being stopped. A job whose request cannot be
 * read keeps its row. The changes are part of the open transaction. */
int upgrade_requests(struct store *store, struct err *err);

#endif
