/* The query parameters of a request, checked against the endpoint's table. */
#ifndef SERVER_API_QUERY_H
#define SERVER_API_QUERY_H

#include "server/api/endpoint.h"

/* Parses the parameters into `out`, in the order of the endpoint's table. `y` is only used to
 * look up jobs. On failure, *field points to the name of the invalid parameter in the query. */
int api_query_read(const struct endpoint *e, struct yard *y, const struct url_query *query,
                   struct api_value out[API_QUERIES], const char **field, struct err *err);

#endif
