/* The OpenAPI document, made from the tables that the server itself works by. */
#ifndef SERVER_API_OPENAPI_H
#define SERVER_API_OPENAPI_H

#include <jansson.h>

/* The document (OpenAPI 3.1) of all endpoints. The caller owns it. */
json_t *openapi_document(void);

#endif
