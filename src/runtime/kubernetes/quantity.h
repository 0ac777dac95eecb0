/* Amounts of resources as Kubernetes writes them: "250m", "1.5", "2Gi", "128974848". */
#ifndef RUNTIME_KUBERNETES_QUANTITY_H
#define RUNTIME_KUBERNETES_QUANTITY_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The amount; false if the text is not one. */
bool quantity_parse(const char *text, double *out);
/* A member of an object, as a text or a number; 0 if it is absent or not an amount. */
double quantity_get(const json_t *object, const char *name);

#endif
