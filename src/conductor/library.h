/* Whether a library can be preloaded where the job runs. */
#ifndef CONDUCTOR_LIBRARY_H
#define CONDUCTOR_LIBRARY_H

#include <stdbool.h>

#include "base/err.h"

/* Fails if the dynamic linker would complain of it in every process of the job. With `probe`,
 * also if it would refuse to start them: an image may have another C library, an older one, or
 * none. */
int library_check(const char *path, bool probe, struct err *err);

#endif
