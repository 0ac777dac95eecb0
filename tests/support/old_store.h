/* The database that the program before schema 3 wrote, for tests of what becomes of it. */
#ifndef SUPPORT_OLD_STORE_H
#define SUPPORT_OLD_STORE_H

#include "support/store_dir.h"

/* The database after these changes (SQL on its old tables), opened. */
struct store *old_store_open(const struct store_dir *d, const char *changes);
/* All its jobs, oldest first; their ids are 1 to 10. */
struct store_dir_rows old_store_jobs(struct store *s);

#endif
