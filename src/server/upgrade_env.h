/* Moves environments out of a database that an earlier version wrote. */
#ifndef SERVER_UPGRADE_ENV_H
#define SERVER_UPGRADE_ENV_H

#include "base/err.h"

struct store;

/* Earlier versions kept the environment of each submitter in the request. Moves it to the files
 * of jobs that are not over, and keeps only the names of the others. Removes the specifications
 * of attempts that are over, too. The database, which is at `path`, is committed and written
 * again, so that no page of it has old values. Does nothing if that was done before. */
int upgrade_environments(struct store *store, const char *path, const char *state_dir,
                         struct err *err);

#endif
