/* The end of an attempt. */
#ifndef CONDUCTOR_FINISH_H
#define CONDUCTOR_FINISH_H

#include <stdbool.h>

#include "base/err.h"

struct conductor;

/* The job is over: reads the rest of its output and counters, records the end, and tells the
 * server. */
void finish_job(struct conductor *c);
/* Records that the attempt could not be started, and why. */
int finish_untried(struct conductor *c, const struct err *why, struct err *err);
/* Writes exit.json, and syncs it if no server takes it over. Retries later on failure. */
void finish_record(struct conductor *c);
/* No server is connected: syncs the record, and lets the conductor exit after a while. */
void finish_unheard(struct conductor *c);
/* Records the end and exits, even if the server does not know it yet. */
void finish_leave(struct conductor *c);
/* Whether the job is over, its directory was removed, and no server is connected, or one that does
 * not know the attempt. No server will look for the record then. */
bool finish_is_forgotten(const struct conductor *c);

#endif
