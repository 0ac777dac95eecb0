/* The examination of a database, for `trainyard db`; the server may run. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "base/err.h"

/* Examines the whole database. Returns 0 when it has no errors, -1 and ERR_IO otherwise. In
 * either case *report gets one finding per line; the caller frees it. */
int store_check(const char *path, char **report, struct err *err);

#endif
