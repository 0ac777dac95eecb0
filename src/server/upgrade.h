/* What a migration of the store leaves to the server, because only the server can read
 * requests. */
#ifndef SERVER_UPGRADE_H
#define SERVER_UPGRADE_H

#include "base/err.h"

struct cluster;
struct store;

/* Fills in the columns that tell a job's terms from its request, where a migration has
 * added them. A job whose request cannot be understood keeps what it has. */
int upgrade_requests(struct store *store, const struct cluster *cluster, struct err *err);

#endif
