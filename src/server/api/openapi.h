/* The OpenAPI document of the API, made of the tables that the server works by. */
#ifndef SERVER_API_OPENAPI_H
#define SERVER_API_OPENAPI_H

#include <jansson.h>

#include "http/router.h"

/* The document (OpenAPI 3.1) of these routes, which all have an operation. The caller
 * owns it. */
json_t *openapi_document(const struct route *routes);

#endif
