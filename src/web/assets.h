/* The files of the dashboard. The build makes the table from src/web/dashboard and
 * src/web/shared with tools/pack. */
#ifndef WEB_ASSETS_H
#define WEB_ASSETS_H

#include "http/asset.h"

/* Ends with a NULL name. */
extern const struct http_asset web_assets[];

#endif
