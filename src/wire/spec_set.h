/* The setting of one field of a job request. */
#ifndef WIRE_SPEC_SET_H
#define WIRE_SPEC_SET_H

#include "wire/spec.h"

/* Sets one field from text, or adds to a field that repeats. The error begins with the field's
 * name. */
int spec_set(struct spec *s, const struct spec_field *f, const char *text, struct err *err);

/* Replaces the command by a line for the shell. */
int spec_set_shell(struct spec *s, const char *line, struct err *err);

#endif
