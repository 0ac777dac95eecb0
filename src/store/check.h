/* The examination of a database, for `trainyard db`: the server may run. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "base/err.h"

/* Examines all of the database. 0 when it is sound; -1, ERR_IO, when it is not.
 * What was found goes to *report, one thing a line, in every case; the caller frees
 * it. */
int store_check(const char *path, char **report, struct err *err);

#endif
