/* What SQLite's result codes mean to a user. */
#ifndef STORE_FAULT_H
#define STORE_FAULT_H

#include <sqlite3.h>

#include "base/err.h"

/* Sets an error that says what the failure of a call on the database at `path` means and what to
 * do; returns -1. `db` is the connection that failed, or NULL. */
int fault_set(sqlite3 *db, const char *path, int rc, struct err *err);

/* The same for a system call that failed with `number`, an errno. */
int fault_errno(const char *path, int number, struct err *err);

#endif
