/* Job requests as JSON: what the command line sends, the API accepts and the store keeps. */
#ifndef WIRE_SPEC_JSON_H
#define WIRE_SPEC_JSON_H

#include <jansson.h>

#include "wire/spec.h"

/* Sets the fields that the object has. On failure `field` names the one at fault; it lives in
 * the object or is static. Unknown members are errors. */
int spec_from_json(const json_t *object, struct spec *s, const char **field, struct err *err);

/* All fields that differ from their defaults. */
json_t *spec_to_json(const struct spec *s);

#endif
