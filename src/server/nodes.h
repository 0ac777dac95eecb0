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

int nodes_find(const struct yard *y, const char *name, uint32_t *node, struct err *err);
/* Lets no job start there until it is undone; what runs there may end. */
int nodes_drain(struct yard *y, uint32_t node, bool drain, struct err *err);

/* A node may have less than when jobs were started there. They go on: the engine counts
 * with what they hold until they give it back. */
bool nodes_overcommitted(const struct yard *y, uint32_t node);
/* Before a task that holds units is restored: the engine counts with these. */
void nodes_make_room(struct yard *y, const struct task *was);
/* Before each decision: the engine counts with no more than there is, or is held. */
void nodes_follow(struct yard *y);
/* The pool of a GPU type, which need not be there any more. */
unsigned nodes_gpu_pool(struct yard *y, const char *type);

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
