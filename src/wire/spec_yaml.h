/* Job files in YAML: a mapping of fields, or `jobs:` with a list of such mappings, for which the
 * fields next to `jobs:` are defaults. A file may have several documents. JSON is also YAML.
 * Anchors, aliases and merge keys work. */
#ifndef WIRE_SPEC_YAML_H
#define WIRE_SPEC_YAML_H

#include "wire/spec.h"

/* Calls each() for every job of the text, in order, until it fails. The request knows the
 * places of its fields and is freed when each() returns. Errors begin with FILE:LINE:COLUMN,
 * with `name` as the file. each() adds what the file does not say and calls spec_check(). */
int spec_read_yaml(const char *name, const char *text, size_t n,
                   int (*each)(struct spec *s, void *ctx, struct err *err), void *ctx,
                   struct err *err);

#endif
