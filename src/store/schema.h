/* Versions of the schema. A database carries the id of the program in its header
 * (application_id), and as its version (user_version) the number of scripts that
 * were run on it. */
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

/* The version of the database. Refuses another program's, and one that is newer
 * than the schema, with the name of the version that wrote it. */
int schema_version(sqlite3 *db, const char *path, const struct schema *schema, int *version,
                   struct err *err);

/* Brings the database to the newest version, each step in a transaction of its
 * own: what fails leaves the version that there was. An empty database becomes
 * ours. */
int schema_migrate(sqlite3 *db, const char *path, const struct schema *schema, struct err *err);

#endif
