/* Nodes as the rows of a table. Pure. */
#ifndef CLI_NODE_GRID_H
#define CLI_NODE_GRID_H

#include <jansson.h>

#include "cli/grid.h"

/* Makes a table from an array of nodes, with bars of `bar` columns (0 = none) for the CPUs that
 * are held; the caller calls grid_done(). */
void node_grid_fill(const json_t *nodes, unsigned bar, struct grid *out);

#endif
