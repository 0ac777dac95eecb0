/* The nodes of all runtimes, as the server knows them. The index of a node is that of the
 * engine's cluster. */
#ifndef SERVER_NODES_H
#define SERVER_NODES_H

#include "runtime/runtime.h"
#include "server/yard.h"

/* Opens the runtimes and makes the cluster of the nodes that they tell of. */
int nodes_open(struct yard *y, struct err *err);
/* Closes the runtimes; what runs goes on. */
void nodes_close(struct yard *y);

/* The runtime that serves a node. */
static inline const struct yard_runtime *nodes_runtime(const struct yard *y, uint32_t node)
{
    return &y->runtimes.at[y->nodes.at[node].runtime];
}

/* Where the files of an attempt are, as its job sees them; the caller frees it. */
char *nodes_files(const struct yard *y, const struct attempt *a);

/* Whether any runtime runs jobs from images. */
bool nodes_run_images(const struct yard *y);

/* A start on the node has failed for a reason of ours, or has succeeded. One that refuses
 * takes no more for a while, longer each time in a row. */
void nodes_refused(struct yard *y, uint32_t node, const char *why);
void nodes_accepted(struct yard *y, uint32_t node);
/* Opens the nodes whose time is over; engine time of the next. */
usec_t nodes_look(struct yard *y, usec_t now);

/* When a runtime next wants its turn; gives those their turn whose time has come. */
usec_t nodes_due(const struct yard *y);
void nodes_turn(struct yard *y, usec_t now);

#endif
