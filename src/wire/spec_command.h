/* A job request as the command that would submit it. */
#ifndef WIRE_SPEC_COMMAND_H
#define WIRE_SPEC_COMMAND_H

#include "base/str.h"
#include "wire/spec.h"

/* Appends "trainyard submit --cpus 1-4 -- python3 train.py", quoted for a shell. A script is
 * given on standard input. */
void spec_command(const struct spec *s, struct str *out);

#endif
