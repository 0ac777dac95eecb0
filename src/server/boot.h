/* Loads the yard from the store: at the start, and again after a failed commit. */
#ifndef SERVER_BOOT_H
#define SERVER_BOOT_H

#include "server/yard.h"

/* Opens the runtimes, creates the engine, loads the jobs that have not ended, adopts their
 * running attempts, and cleans up unknown ones. */
int yard_load(struct yard *y, struct err *err);
/* Loads a job that has ended back into the yard, blocked and without a task; NULL and
 * ERR_NOT_FOUND if it does not exist. */
struct live_job *yard_revive(struct yard *y, int64_t id, struct err *err);
/* Takes it out again. */
void yard_unrevive(struct yard *y, struct live_job *j);
/* Frees jobs, engine and runtimes. Conductors must connect again. */
void yard_unload(struct yard *y);
/* Unloads and loads: memory becomes what the store has. Exits if that fails. */
void yard_reload(struct yard *y);

#endif
