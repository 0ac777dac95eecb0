/* The inside of the local runtime: what it knows of this machine. */
#ifndef RUNTIME_LOCAL_LOCAL_H
#define RUNTIME_LOCAL_LOCAL_H

#include "runtime/local/cgroup.h"
#include "runtime/local/cpus.h"
#include "runtime/local/gpu.h"
#include "runtime/local/held.h"
#include "runtime/local/inventory.h"
#include "runtime/runtime.h"

struct runtime {
    char *jobs_dir, *conductor;
    struct inventory inventory;
    struct topology topology;
    struct cpus cpus;
    struct gpus gpus;
    struct cgroups cgroups; /* n = 0: none can be had */
    struct runtime_node node;
    struct str notice;
    VEC(struct held *) held; /* ordered by job and attempt */
};

#endif
