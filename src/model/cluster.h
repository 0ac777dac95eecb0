/* Nodes: what they have, and how much of it is held. */
#ifndef MODEL_CLUSTER_H
#define MODEL_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/job.h"

enum node_state {
    NODE_UP,
    NODE_DRAINING, /* running jobs may end, paused jobs leave, no job starts */
    NODE_DOWN,
    NODE_CLOSED, /* for a while nothing new starts; what is there stays */
};

struct node {
    const char *name;
    enum node_state state;
    units_t cpus; /* thousandths */
    units_t gpus; /* thousandths, all of one type */
    uint8_t gpu_pool;
    int64_t memory_mb; /* 0 = not limited */
    units_t cpu_held, gpu_held;
    int64_t memory_held;
    int64_t memory_used; /* by tasks whose jobs do not say how much they need */
    struct devices devices, devices_held;
    VEC(uint32_t) tasks; /* tasks that hold units here, in the order in which they came */
};

struct cluster {
    struct node *nodes;
    uint32_t n;
    const char *gpu_types[POOLS_MAX - 1];  /* by pool - POOL_GPU; NULL after the last */
    const char *device_names[DEVICES_MAX]; /* NULL = it has no name for users */
};

/* What a node has, as its operator or its engine reports it. */
struct capacity {
    const char *name;
    units_t cpus, gpus;
    const char *gpu_type;   /* NULL = it has none */
    int64_t memory_mb;      /* 0 = not limited */
    int64_t memory_used;    /* as in struct node */
    struct devices devices; /* none = as before */
};

/* Memory that is left of what the node has when `held` of it is taken; INT64_MAX = not limited. */
static inline int64_t node_memory_left(const struct node *n, int64_t held)
{
    int64_t left = n->memory_mb - n->memory_used - held;
    return !n->memory_mb ? INT64_MAX : left > 0 ? left : 0;
}

/* Units of the pool that the node has, whatever its state is. */
static inline units_t node_size(const struct node *n, unsigned pool)
{
    return pool == POOL_CPU ? n->cpus : pool == n->gpu_pool ? n->gpus : 0;
}

static inline units_t node_held(const struct node *n, unsigned pool)
{
    return pool == POOL_CPU ? n->cpu_held : pool == n->gpu_pool ? n->gpu_held : 0;
}

/* The number of pools; they are 0 to cluster_pools() - 1. */
unsigned cluster_pools(const struct cluster *c);

/* The pool of the GPUs of a type, in any case of letters; POOLS_MAX when there is none. */
unsigned cluster_gpu_pool(const struct cluster *c, const char *type);

/* The size of a pool; with `usable`, of nodes that are NODE_UP. */
units_t cluster_size(const struct cluster *c, unsigned pool, bool usable);

/* The most units of the pool that the job could hold on the empty cluster; with `usable`,
 * on nodes that are NODE_UP. */
units_t cluster_most(const struct cluster *c, const struct job *j, unsigned pool, bool usable);

/* Fails (ERR_LIMIT) if the job could not run at its smallest size on the empty cluster with
 * all nodes up. */
int cluster_can_hold(const struct cluster *c, const struct job *j, struct err *err);

#endif
