/* The API: one table of routes, a handler each. docs/api.md says what they do. */
#ifndef SERVER_API_API_H
#define SERVER_API_API_H

#include "http/router.h"

/* The context of the handlers is the yard. Ends with {0}. */
extern const struct route api_routes[];

#endif
