/* Which variables of the submitter's environment go along with a job. */
#ifndef WIRE_SPEC_EXPORT_H
#define WIRE_SPEC_EXPORT_H

#include "wire/spec.h"

/* Adds the submitter's environment to `environment`, as `export` says: "all" (the default),
 * "none", or names, of which the last character may be '*'. The variables of a login shell
 * always go along; the token of a server only if its name is given. What `env` sets is left out.
 * A container has the environment of its image: only variables that are named go along with it.
 * Returns how many variables were left out because they are not valid text. */
uint32_t spec_export(struct spec *s, char *const *environment);

/* Whether the text is a valid `export`. */
int spec_export_check(const char *text, struct err *err);

#endif
