/* How the yard comes to know what there is: at the start, and again when a turn could
 * not be written. */
#ifndef SERVER_BOOT_H
#define SERVER_BOOT_H

#include "server/yard.h"

/* Opens the runtime, reads the jobs that are not over, adopts the attempts that go on
 * and gives up those that do not, cleans up what nobody knows, and makes the engine. */
int yard_load(struct yard *y, struct err *err);
/* Takes a job that is over back into the yard, blocked and with no task; NULL and
 * ERR_NOT_FOUND when there is none. */
struct live_job *yard_revive(struct yard *y, int64_t id, struct err *err);
/* Forgets jobs, engine and runtime. Conductors have to connect again. */
void yard_unload(struct yard *y);
/* Both: what is in memory becomes what is in the store. */
void yard_reload(struct yard *y);

#endif
