/* What a job's command line, and the files that it names, say about how long it runs. */
#ifndef CONDUCTOR_HINTS_H
#define CONDUCTOR_HINTS_H

#include "progress/plan.h"
#include "protocol/launch_spec.h"

/* Fills in what can be read now. Skips files that are missing, too large or not regular. */
void hints_read(const struct launch_spec *spec, struct progress_plan *out);

#endif
