/* YAML texts, such as a kubeconfig, as JSON values. */
#ifndef RUNTIME_KUBERNETES_YAML_H
#define RUNTIME_KUBERNETES_YAML_H

#include <jansson.h>
#include <stddef.h>

#include "base/err.h"

/* Reads the first document of the text, which may also be JSON. Scalars that are not quoted become
 * numbers, booleans or null where they look like them. The caller frees the value. */
int yaml_to_json(const char *text, size_t n, json_t **out, struct err *err);

#endif
