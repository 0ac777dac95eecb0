/* Libraries that are loaded into the processes of a job. */
#ifndef CONDUCTOR_LIBRARY_H
#define CONDUCTOR_LIBRARY_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"
#include "protocol/launch_spec.h"

/* Fails if the dynamic linker would print a warning in every process of the job. With `probe`,
 * also fails if the linker would refuse to start them: an image may have another C library, an
 * older one, or none. */
int library_check(const char *path, bool probe, struct err *err);
/* Adds it to LD_PRELOAD in the job's environment, before the job's own entries. */
void library_preload(struct launch_spec *spec, struct arena *a, const char *path);

#endif
