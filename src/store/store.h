/* The store: everything that must survive, in one SQLite database. One transaction is open from
 * the first write of a loop turn to store_commit(). Reads in the same turn see what it wrote;
 * nobody else is told of it before the commit.
 *
 * Texts may contain any bytes: those that are not UTF-8 are stored as U+FFFD. NULL is stored as
 * "". NAN is read back as NAN.
 *
 * When the input of a write is wrong (ERR_INVALID, ERR_NOT_FOUND, ERR_CONFLICT, ERR_LIMIT), only
 * that write fails; what the turn wrote before stays. When the database fails (ERR_IO,
 * ERR_INTERNAL), everything that the turn has written is undone, and every further write of the
 * turn fails until store_commit() or store_rollback(). After that the store can be used again.
 *
 * Functions that list rows call `fn` for each one. It returns 0 to continue, 1 to stop, -1 with
 * an error to fail. It may call the store, but not commit or roll back. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Opens or creates the database and migrates an older schema. A newer or damaged database is
 * refused, with advice. The caller ensures that only one server at a time has it open. */
int store_open(const char *path, struct store **out, struct err *err);
/* For readers, while a server may run: does not create or migrate a database, and writes fail. */
int store_open_to_read(const char *path, struct store **out, struct err *err);
/* Discards what was not committed. */
void store_close(struct store *s);

/* Makes durable what was written since the last commit; returns 0 when there is nothing to do.
 * On failure (ERR_IO: a full disk) all of it is undone. */
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);
/* Whether store_commit() has something to do, or a failure to report. */
bool store_dirty(const struct store *s);

/* Name of the setting that holds the version of the program. The server sets it at
 * each start; store_open() names it when it refuses a newer schema. */
#define STORE_META_PROGRAM "program"

/* Name of the setting that a migration sets when it added columns that only requests tell.
 * The server fills them in and removes it (server/upgrade.h). */
#define STORE_META_REQUESTS "requests"

/* Name of the setting that a migration sets when requests may have environments in them. The
 * server moves them out and removes it. */
#define STORE_META_ENVIRONMENTS "environments"

/* NULL when it is not set; the caller frees it. */
char *store_meta_get(struct store *s, const char *key);
/* NULL removes it. */
int store_meta_set(struct store *s, const char *key, const char *value, struct err *err);

#endif
