/* The program that a job runs, as a file. */
#ifndef CONDUCTOR_PROGRAM_H
#define CONDUCTOR_PROGRAM_H

#include <stdbool.h>

#include "protocol/launch_spec.h"

/* Opens the program where exec would find it; -1 if it is missing or not a regular file. */
int program_open(const struct launch_spec *spec);

/* Whether it is linked statically, so that no library can be preloaded. */
bool program_is_static(const struct launch_spec *spec);

#endif
