/* Backup and compaction, for `trainyard db`. Both work while the server runs, and neither
 * creates a database. */
#ifndef STORE_CARE_H
#define STORE_CARE_H

#include <stdint.h>

#include "base/err.h"

/* Called from time to time with the number of pages done and in total. */
typedef void (*store_progress_fn)(void *ctx, uint64_t done, uint64_t total);
/* Writes a consistent copy of the database to the file `to`, which appears complete or not at
 * all. An older backup is replaced, any other file is refused. `progress` may be NULL. */
int store_backup(const char *path, const char *to, store_progress_fn progress, void *ctx,
                 struct err *err);
/* Returns unused space to the file system. Other programs may have the database open; writers
 * wait meanwhile. */
int store_compact(const char *path, struct err *err);

#endif
