/* Goodput profiles of Pollux and Sia: placements, scalability and validation files of an
 * application. */
#ifndef SIM_TRACE_GOODPUT_READ_H
#define SIM_TRACE_GOODPUT_READ_H

#include "base/err.h"
#include "base/mem.h"
#include "model/goodput.h"

/* `type` picks placements-TYPE.csv; without such files, or with an empty type,
 * placements.csv is read. Everything lives in the arena. */
int goodput_read(const char *directory, const char *application, const char *type, struct arena *a,
                 struct goodput *out, struct err *err);

/* Applies what the simulator of Pollux limits beyond its profiles. */
void goodput_limit_pollux(struct goodput *g, const char *application);

#endif
