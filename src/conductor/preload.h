/* Libraries that are loaded into the processes of a job. */
#ifndef CONDUCTOR_PRELOAD_H
#define CONDUCTOR_PRELOAD_H

#include "base/mem.h"
#include "protocol/launch_spec.h"

/* Names the library in the job's environment, before what the job preloads itself. */
void preload_add(struct launch_spec *spec, struct arena *a, const char *library);

#endif
