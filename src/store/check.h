/* The examination of a database, for an opening; store.h has that for users. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include <sqlite3.h>

#include "base/err.h"

/* Looks at the structure of every page, which takes some milliseconds a megabyte. */
int check_pages(sqlite3 *db, const char *path, struct err *err);

#endif
