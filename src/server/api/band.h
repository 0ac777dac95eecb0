/* Estimates with their uncertainty, as JSON. */
#ifndef SERVER_API_BAND_H
#define SERVER_API_BAND_H

#include "model/range.h"
#include "server/api/schema.h"

extern const struct api_schema band_schema; /* "Band" */

/* A bound that is not finite is null. */
json_t *band_print(const struct range *r);

#endif
