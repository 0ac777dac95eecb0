/* The connection to an engine, which serves one node. */
#ifndef RUNTIME_DOCKER_NODE_H
#define RUNTIME_DOCKER_NODE_H

#include "runtime/docker/docker.h"

/* As in struct runtime_ops. */
int node_attach(struct runtime *r, const struct runtime_engine *e, struct err *err);
void node_detach(struct runtime *r, const char *name);
void node_free(struct docker_node *n);
/* Engine time at which to call node_turn(). */
usec_t node_due(const struct docker_node *n);
void node_turn(struct docker_node *n, usec_t now);
/* What the node has: as its operator said, otherwise as the engine says. */
units_t node_cpus(const struct docker_node *n);

/* The engine cannot give GPUs to containers: until it is connected again, the node has none. */
void node_lose_gpus(struct docker_node *n);

#endif
