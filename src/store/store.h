/* The store: everything that must survive, in one SQLite database. One
 * transaction is open from the first write of a loop turn to store_commit();
 * what is read before sees it, nobody is told of it until then.
 *
 * Texts that are given may hold any bytes: those that are not UTF-8 are kept as
 * U+FFFD. NULL counts as "". A number that is NAN comes back as NAN.
 *
 * A function that writes fails alone when its input is wrong (ERR_INVALID,
 * ERR_NOT_FOUND, ERR_CONFLICT, ERR_LIMIT): what the turn wrote before is still
 * there. When the database fails (ERR_IO, ERR_INTERNAL), all that the turn has
 * written is undone, and every further write of the turn fails, up to
 * store_commit() or store_rollback(). The store can be used after that.
 *
 * Functions that list call `fn` for each row: it returns 0 to go on, 1 to stop,
 * -1 with an error to fail. It may call the store, but not commit or roll back. */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/time.h"

struct store;

/* Opens or creates the database, migrates an older schema, refuses a newer one
 * and a damaged one with what to do about it. The caller sees to it that one
 * server at a time has it open. */
int store_open(const char *path, struct store **out, struct err *err);
/* For one who only reads, while a server may run: no database is made, none is
 * migrated, and what writes fails. */
int store_open_to_read(const char *path, struct store **out, struct err *err);
/* Drops what was not committed. */
void store_close(struct store *s);

/* Makes what was written since the last commit durable; nothing to do is 0. On
 * failure (ERR_IO: a full disk) all of it is undone. */
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);
/* Whether anything is waiting for store_commit(), be it a failure to be told of. */
bool store_dirty(const struct store *s);

/* Name of the setting that holds the version of the program. The server sets it at
 * each start; store_open() names it when it refuses a newer schema. */
#define STORE_META_PROGRAM "program"

/* Name of the setting that a migration sets when it added columns that only requests tell.
 * The server fills them in and removes it (server/upgrade.h). */
#define STORE_META_REQUESTS "requests"

/* NULL when it is not set; the caller frees it. */
char *store_meta_get(struct store *s, const char *key);
/* NULL removes it. */
int store_meta_set(struct store *s, const char *key, const char *value, struct err *err);

#endif
