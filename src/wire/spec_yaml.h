/* Job files in YAML: a mapping of fields, or `jobs:` with a list of such mappings,
 * to which the fields beside it are defaults; several documents are fine. JSON is
 * YAML too. Anchors, aliases and merge keys work. */
#ifndef WIRE_SPEC_YAML_H
#define WIRE_SPEC_YAML_H

#include "wire/spec.h"

/* Calls each() for every job of the text, in order, until it fails; the request
 * knows the places of its fields, and is gone when each() returns. Errors of
 * reading say FILE:LINE:COLUMN, with `name` as the file. spec_check is up to
 * each(), when it has added what the file does not say. */
int spec_read_yaml(const char *name, const char *text, size_t n,
                   int (*each)(struct spec *s, void *ctx, struct err *err), void *ctx,
                   struct err *err);

#endif
