/* The contract of a runtime: what carries jobs out on the nodes that it serves.
 * A back-end is one const struct of operations. Nothing here waits: what takes
 * time is reported later by the conductor of the attempt. */
#ifndef RUNTIME_RUNTIME_H
#define RUNTIME_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"
#include "model/speed.h"

struct runtime;

/* What a node of the runtime has. */
struct runtime_node {
    const char *name;
    units_t cpus, gpus; /* thousandths */
    const char *gpu_type;
    int64_t memory_mb;
};

/* One attempt of a job on one node. */
struct runtime_attempt {
    int64_t job;
    uint32_t attempt;
    const char *node;
    units_t cpus;      /* granted: quota, and whole cores where they fit */
    units_t cpu_limit; /* hard bound; more than `cpus` under a soft sharer */
    double cpu_weight; /* against its neighbours, 1 = normal */
    int64_t memory_mb; /* limit; 0 = none */
};

struct runtime_ops {
    const char *name;

    /* Looks at the machine: nodes, topology, whether cgroups can be used. Says in
     * *notice (static or owned by the runtime) what a user should know once, e.g.
     * that jobs run without cgroups and why; NULL = nothing. */
    int (*open)(struct runtime **out, const char *state_dir, const char **notice,
                struct err *err);
    void (*close)(struct runtime *r);

    /* The nodes; the array belongs to the runtime. */
    const struct runtime_node *(*nodes)(const struct runtime *r, uint32_t *n);

    /* Makes ready for the attempt: cgroups with their limits, a set of CPUs near
     * each other. Adds to *spec, a JSON object (json_t *), the members that the
     * conductor needs: "cgroup", "cpuset_os", "nice". */
    int (*prepare)(struct runtime *r, const struct runtime_attempt *a, void *spec,
                   struct err *err);
    /* Starts its conductor, detached; its directory holds spec.json. */
    int (*spawn)(struct runtime *r, const char *attempt_dir, int64_t *pid, struct err *err);
    /* Changes CPUs, limit or weight of a running attempt. */
    int (*resize)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    int (*freeze)(struct runtime *r, const struct runtime_attempt *a, bool frozen,
                  struct err *err);
    /* Takes over an attempt that runs since before this server did: its CPUs are
     * in use. */
    int (*adopt)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    /* Kills whatever is left of the attempt and frees all it has; fine when there
     * is nothing. Returns 1 when processes are still dying: call it again. */
    int (*clean)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    /* Attempts that left something behind: calls fn for each, for example a cgroup
     * of an attempt that the store does not know. */
    void (*leftovers)(struct runtime *r, void (*fn)(void *ctx, int64_t job, uint32_t attempt),
                      void *ctx);
    /* The CPUs that an attempt has now, as the kernel writes them ("0-1,4"). */
    const char *(*cpuset)(const struct runtime *r, const struct runtime_attempt *a);
};

extern const struct runtime_ops runtime_local;

#endif
