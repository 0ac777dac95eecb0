/* The end of an attempt. */
#ifndef CONDUCTOR_FINISH_H
#define CONDUCTOR_FINISH_H

#include <stdbool.h>

#include "base/err.h"

struct conductor;

/* The job is over: takes the last of what it said and used, and how it ended, on
 * disk and to the server. */
void finish_job(struct conductor *c);
/* The attempt cannot even be tried: the record says why. */
int finish_untried(struct conductor *c, const struct err *why, struct err *err);
/* Writes exit.json and, if no server takes it over, syncs it; or tries again later. */
void finish_record(struct conductor *c);
/* No server is there to hear it: it must survive by itself, and the conductor leaves after
 * a while. */
void finish_unheard(struct conductor *c);
/* The conductor was asked to leave although the server may not know. */
void finish_leave(struct conductor *c);
/* Whether the job is over, its directory was removed and no server is connected: then no server
 * will ever look for its record. */
bool finish_is_forgotten(const struct conductor *c);

#endif
