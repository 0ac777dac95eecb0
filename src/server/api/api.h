/* The API: the endpoints of all its parts, as routes of the HTTP server. docs/api.md
 * describes them. */
#ifndef SERVER_API_API_H
#define SERVER_API_API_H

#include "http/router.h"
#include "server/api/endpoint.h"

/* The routes of a server. Handlers get it as their context. */
struct api {
    struct yard *yard;
    struct route *routes;              /* ends with {0} */
    const struct endpoint **endpoints; /* one for each route; NULL for a page */
};

/* Counts a request that was answered; for the HTTP server, whose context is the API. */
void api_served(void *ctx, const struct request *q, int status, usec_t took);

/* For the HTTP server: see http_config.identify. */
bool api_identify(void *ctx, const struct request *q, struct caller *caller);

/* `y` must outlive the API. */
struct api *api_create(struct yard *y);
void api_free(struct api *api);

/* All parts; ends with NULL. */
extern const struct api_part *const api_parts[];

/* NULL if no schema has this name. */
const struct api_schema *api_schema_find(const char *name);

#endif
