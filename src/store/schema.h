/* Versions of the schema. The header of a database has the id of the program (application_id) and
 * as its version (user_version) the number of scripts that were run on it. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <sqlite3.h>
#include <stddef.h>

#include "base/err.h"

#define SCHEMA_APPLICATION_ID 0x54597264 /* "TYrd" */

/* scripts[i] brings version i to i + 1. */
struct schema {
    const char *const *scripts;
    int n;
};

extern const struct schema schema_current;

/* The version of the database. Refuses the database of another program and one that is newer
 * than the schema; the error names the version that wrote it. */
int schema_version(sqlite3 *db, const char *path, const struct schema *schema, int *version,
                   struct err *err);

/* Upgrades the database to the newest version, each step in a transaction of its own, so that a
 * failure leaves the version before it. An empty database becomes ours. */
int schema_migrate(sqlite3 *db, const char *path, const struct schema *schema, struct err *err);

#endif
