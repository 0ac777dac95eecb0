/* Schemas of the OpenAPI document, from the tables of members. */
#ifndef SERVER_API_OPENAPI_SCHEMA_H
#define SERVER_API_OPENAPI_SCHEMA_H

#include <jansson.h>

#include "server/api/schema.h"

/* The schema of a type: "number|null", "Progress|null", "string[]". */
json_t *openapi_type(const char *type);
/* A string that is one of "first|second". */
json_t *openapi_words(const char *words);
/* The definition of a named schema. */
json_t *openapi_schema(const struct api_schema *s);

#endif
