/* The OpenAPI document, generated from the tables that the server uses itself. */
#ifndef SERVER_API_OPENAPI_H
#define SERVER_API_OPENAPI_H

#include <jansson.h>

/* The document (OpenAPI 3.1) of all endpoints. The caller owns it. */
json_t *openapi_document(void);

#endif
