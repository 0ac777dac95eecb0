/* The way of a folder to the server. */
#ifndef CLI_UPLOAD_H
#define CLI_UPLOAD_H

#include "cli/server_link.h"

/* Packs and sends the folder that each of these job requests names as `upload`, unless the server
 * has the same content already, and puts its digest in its place. */
int upload_folders(struct server_link *l, json_t *jobs, struct err *err);

#endif
