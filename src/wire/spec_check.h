/* Rules that a whole job request must satisfy. */
#ifndef WIRE_SPEC_CHECK_H
#define WIRE_SPEC_CHECK_H

#include "wire/spec.h"

/* Derives missing fields from others and finds contradictions. `field`, which may be NULL, gets
 * the name of the field at fault. */
int spec_check(struct spec *s, const char **field, struct err *err);

#endif
