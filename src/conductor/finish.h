/* The end of an attempt. */
#ifndef CONDUCTOR_FINISH_H
#define CONDUCTOR_FINISH_H

#include "base/err.h"

struct conductor;

/* The job is over: takes the last of what it said and used, and how it ended, on
 * disk and to the server. */
void finish_job(struct conductor *c);
/* The attempt cannot even be tried: the record says why. */
int finish_untried(struct conductor *c, const struct err *why, struct err *err);
/* Writes exit.json, or tries again later. */
void finish_record(struct conductor *c);
/* Nobody is there to hear it: leaves after a while if it is on disk. */
void finish_unheard(struct conductor *c);

#endif
