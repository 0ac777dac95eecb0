/* The inside of the local runtime: what it knows of this machine. */
#ifndef RUNTIME_LOCAL_LOCAL_H
#define RUNTIME_LOCAL_LOCAL_H

#include "runtime/local/cgroup.h"
#include "runtime/local/cpus.h"
#include "runtime/local/gpu.h"
#include "runtime/local/held.h"
#include "runtime/local/inventory.h"
#include "runtime/runtime.h"

struct links;

struct runtime {
    struct runtime_host *host;
    struct links *links;
    char *jobs_dir, *conductor;
    char *tools[3]; /* by enum runtime_tool; NULL = not there */
    struct inventory inventory;
    struct topology topology;
    struct cpus cpus;
    struct gpus gpus;
    struct cgroups cgroups; /* n = 0: none can be had */
    struct runtime_node node;
    struct str notice;
    VEC(struct held *) held;           /* ordered by job and attempt */
    VEC(struct runtime_op *) cleaning; /* whose processes are still dying */
    usec_t clean_at;                   /* when to look at them again */
};

#endif
