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
    const char *node;  /* NULL = the runtime's only one */
    units_t cpus;      /* granted: quota, and whole cores where they fit */
    units_t cpu_limit; /* hard bound; more than `cpus` under a soft sharer */
    double cpu_weight; /* against its neighbours on the node, > 0; any scale, as long as
                        * it is theirs too */
    units_t gpus;      /* 0 = none */
    int64_t memory_mb; /* limit; 0 = none */
    int64_t pids;      /* limit on processes and threads; 0 = the runtime's own */
};

struct runtime_ops {
    const char *name;
    bool images; /* it runs jobs in containers, from images */

    /* Looks at the machine: nodes, topology, whether cgroups can be used. Says in
     * *notice (owned by the runtime) what a user should know once, e.g. that jobs
     * run without cgroups and why; NULL = nothing. The state directory exists. */
    int (*open)(struct runtime **out, const char *state_dir, const char **notice, struct err *err);
    /* Forgets everything; what runs goes on. */
    void (*close)(struct runtime *r);

    /* The nodes; the array belongs to the runtime. */
    const struct runtime_node *(*nodes)(const struct runtime *r, uint32_t *n);

    /* Makes ready for the attempt: cgroups with their limits, a set of CPUs near
     * each other, GPUs. Adds to *spec, a JSON object (json_t *), the members that
     * the conductor needs:
     *   "cgroup"    list of {"path", "procs"}; empty without cgroups
     *   "cpuset_os" the CPUs as the kernel writes them; where no cgroup holds the job
     *               to them (none has cpuset.cpus), the conductor does by affinity
     *   "nice"      0 where the cgroups weigh
     *   "gpus"      list of UUIDs, for CUDA_VISIBLE_DEVICES; only if it has any
     * ERR_CONFLICT when the attempt has been prepared before. */
    int (*prepare)(struct runtime *r, const struct runtime_attempt *a, void *spec, struct err *err);
    /* Starts its conductor, detached: no child of ours, nothing to wait for. Its
     * directory, STATE/jobs/JOB/ATTEMPT, holds spec.json. */
    int (*spawn)(struct runtime *r, const char *attempt_dir, int64_t *pid, struct err *err);
    /* Changes CPUs, limits or weight of an attempt that was prepared or adopted
     * (ERR_NOT_FOUND otherwise). Its GPUs stay. The same call twice is fine. */
    int (*resize)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    int (*freeze)(struct runtime *r, const struct runtime_attempt *a, bool frozen, struct err *err);
    /* Takes over an attempt that runs since before this server did: the CPUs that it
     * has are in use, and its limits are set anew. */
    int (*adopt)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    /* Kills whatever is left of the attempt but its conductor, and frees all it has;
     * fine when there is nothing. Returns 1 when processes are still dying: call it
     * again, in a few milliseconds. */
    int (*clean)(struct runtime *r, const struct runtime_attempt *a, struct err *err);
    /* Attempts that left something behind, running or not: calls fn once for each,
     * for example a cgroup of an attempt that the store does not know. fn may call
     * adopt and clean. */
    void (*leftovers)(struct runtime *r, void (*fn)(void *ctx, int64_t job, uint32_t attempt),
                      void *ctx);
    /* The CPUs that an attempt has now, as the kernel writes them ("0-1,4"), until the
     * next call that changes them; NULL when it is not known. */
    const char *(*cpuset)(const struct runtime *r, const struct runtime_attempt *a);
};

extern const struct runtime_ops runtime_local;

#endif
