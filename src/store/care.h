/* Backup and compaction, for `trainyard db`: the server may run. Neither creates a
 * database. */
#ifndef STORE_CARE_H
#define STORE_CARE_H

#include <stdint.h>

#include "base/err.h"

/* Called now and then with how many pages of all are done. */
typedef void (*store_progress_fn)(void *ctx, uint64_t done, uint64_t total);
/* Copies the database as it is at one instant to the file `to`, which appears whole
 * or not at all. An older backup there is replaced, anything else is refused.
 * `progress` may be NULL. */
int store_backup(const char *path, const char *to, store_progress_fn progress, void *ctx,
                 struct err *err);
/* Gives unused space back to the file system. Others may have it open; those that
 * write wait meanwhile. */
int store_compact(const char *path, struct err *err);

#endif
