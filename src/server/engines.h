/* Nodes that operators add and remove while the server runs. */
#ifndef SERVER_ENGINES_H
#define SERVER_ENGINES_H

#include "server/yard.h"
#include "store/engines.h"

/* Attaches the stored ones to their runtimes, which are open. */
int engines_load(struct yard *y, struct err *err);
/* Stores a node and attaches it. */
int engines_add(struct yard *y, const struct engine_row *row, uint32_t *node, struct err *err);
/* Removes a node on which no job is, for good. */
int engines_remove(struct yard *y, uint32_t node, struct err *err);

#endif
