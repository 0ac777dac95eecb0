/* What the fields of a job request must agree on. */
#ifndef WIRE_SPEC_CHECK_H
#define WIRE_SPEC_CHECK_H

#include "wire/spec.h"

/* Fills what follows from other fields and finds contradictions. `field`, which
 * may be NULL, gets the name of the one at fault. */
int spec_check(struct spec *s, const char **field, struct err *err);

#endif
