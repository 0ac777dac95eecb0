/* A job's growth efficiency over time, as the API shows it. */
#ifndef SERVER_API_GROWTH_H
#define SERVER_API_GROWTH_H

#include <jansson.h>

#include "server/yard.h"

/* Lists the job's measurements, oldest first; with `last`, only the last that many. The caller
 * owns the list. */
int growth_list_read(struct yard *y, int64_t job, size_t last, json_t **out, struct err *err);

#endif
