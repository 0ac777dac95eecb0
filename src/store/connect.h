/* Connections to a database file, with the settings that the store needs. */
#ifndef STORE_CONNECT_H
#define STORE_CONNECT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/err.h"

/* Milliseconds for which a connection waits for another program's lock. */
enum { CONNECT_WAIT_MS = 5000 };

/* Opens an existing database. It may belong to another program, so nothing is changed. With
 * `write` it fails when the file is not writable. */
int connect_open(const char *path, bool write, sqlite3 **out, struct err *err);

/* Makes every commit durable: write-ahead log, synced each time. */
int connect_make_durable(sqlite3 *db, const char *path, struct err *err);

void connect_close(sqlite3 **db);
#define AUTO_CONNECT __attribute__((cleanup(connect_close)))

/* Runs statements without a result. */
int connect_run(sqlite3 *db, const char *path, const char *sql, struct err *err);

#endif
