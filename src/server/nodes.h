/* The nodes of all runtimes. A node has the same index here and in the engine's cluster. */
#ifndef SERVER_NODES_H
#define SERVER_NODES_H

#include "runtime/runtime.h"
#include "server/yard.h"

/* Opens the runtimes and builds the cluster from the nodes that they report. */
int nodes_open(struct yard *y, struct err *err);
/* Closes the runtimes; jobs keep running. */
void nodes_close(struct yard *y);

/* The run directory has changed: runtimes make their sockets again if they are gone. */
void nodes_restore(struct yard *y);

/* The runtime that serves a node. */
static inline const struct yard_runtime *nodes_runtime(const struct yard *y, uint32_t node)
{
    return &y->runtimes.at[y->nodes.at[node].runtime];
}

int nodes_find(const struct yard *y, const char *name, uint32_t *node, struct err *err);
/* The node that an attempt is on. One that no runtime serves any more is added as lost:
 * what runs there may still run. */
uint32_t nodes_expect(struct yard *y, const char *runtime, const char *name);
/* Drained: no job starts there; running jobs may end. */
int nodes_drain(struct yard *y, uint32_t node, bool drain, struct err *err);

/* A node that has shrunk may have less than its jobs hold. They keep running, and the engine uses
 * what they hold as the node's capacity until they free it.
 *
 * Raises the engine's capacity so that a task that holds units can be restored. */
void nodes_make_room(struct yard *y, const struct task *was);
/* Before each decision: sets the engine's capacity to what each node has, or to what jobs hold
 * if that is more. */
void nodes_follow(struct yard *y);
/* Counts the attempts on the node that were given up while it was lost. While there are some, it
 * takes no jobs. */
void nodes_follow_fences(struct yard *y, uint32_t node);
/* The pool of a GPU type, which is added if no node has it. */
unsigned nodes_gpu_pool(struct yard *y, const char *type);

/* The directory of an attempt's files as its job sees it; the caller frees it. */
char *nodes_files(const struct yard *y, const struct attempt *a);

/* Whether the server has this runtime. */
bool nodes_has_runtime(const struct yard *y, const char *name);

/* Whether a runtime with containers finds its nodes, and what is free on them, by itself. */
bool nodes_discover_images(const struct yard *y);

/* Whether any node runs jobs from images. */
bool nodes_run_images(const struct yard *y);

/* Whether all nodes that run jobs from images have yet to say what they have. */
bool nodes_unknown(const struct yard *y);

/* A start on the node failed for a reason that is not the job's, or succeeded. After a failure
 * the node is closed for a while, longer for each failure in a row. After several it counts as
 * drained: it is only tried now and then, until a start succeeds or a user undrains it. */
void nodes_refused(struct yard *y, uint32_t node, const char *why);
void nodes_accepted(struct yard *y, uint32_t node);
/* Whether it counts as drained because starts have failed. */
bool nodes_gave_up(const struct yard_node *n);
/* Opens closed nodes whose time has passed; returns the engine time of the next. */
usec_t nodes_look(struct yard *y, usec_t now);

/* Engine time at which a runtime is due; runs those that are. */
usec_t nodes_due(const struct yard *y);
void nodes_turn(struct yard *y, usec_t now);

/* Whether the memory limits of jobs are enforced on this node; NODES_ANY = on one at least. */
#define NODES_ANY UINT32_MAX
bool nodes_limit_memory(const struct yard *y, uint32_t node);

#endif
