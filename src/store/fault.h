/* What SQLite's result codes mean to a user. */
#ifndef STORE_FAULT_H
#define STORE_FAULT_H

#include <sqlite3.h>

#include "base/err.h"

/* Says what the failure of a call on the database at `path` means, and what to do
 * about it; returns -1. `db` is the connection that failed, NULL when there is
 * none. */
int fault_set(sqlite3 *db, const char *path, int rc, struct err *err);

/* The same for a system call that failed with `number`, an errno. */
int fault_errno(const char *path, int number, struct err *err);

#endif
