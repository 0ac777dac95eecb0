/* The setting of one field of a job request. */
#ifndef WIRE_SPEC_SET_H
#define WIRE_SPEC_SET_H

#include "wire/spec.h"

/* Sets one field from text; adds to one that repeats. The error begins with the
 * field's name. */
int spec_set(struct spec *s, const struct spec_field *f, const char *text, struct err *err);

/* Makes a line for the shell the command, in place of the one it had. */
int spec_set_shell(struct spec *s, const char *line, struct err *err);

#endif
