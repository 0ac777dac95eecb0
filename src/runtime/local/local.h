/* What the local runtime knows of this machine, for the files of this folder. */
#ifndef RUNTIME_LOCAL_LOCAL_H
#define RUNTIME_LOCAL_LOCAL_H

#include "runtime/local/cgroup.h"
#include "runtime/local/cpus.h"
#include "runtime/local/gpu.h"
#include "runtime/local/held.h"
#include "runtime/local/inventory.h"
#include "runtime/runtime.h"

struct gpu_look;
struct links;

/* An attempt whose processes are dying. */
struct dying {
    struct attempt_id id;
    struct runtime_op *op; /* to be completed; NULL = nobody waits for it */
};

struct runtime {
    struct runtime_host *host;
    struct links *links; /* NULL when the host has no loop */
    char *socket;        /* where conductors connect */
    char *jobs_dir, *conductor;
    char *tools[TOOL_COUNT]; /* NULL = not there */
    struct inventory inventory;
    struct topology topology;
    struct cpus cpus;
    struct gpus gpus;
    struct cgroups cgroups; /* n = 0: none can be had */
    char base[64];          /* name of the group above those of attempts */
    struct runtime_node node;
    struct str notice;        /* on control groups */
    struct str gpu_trouble;   /* why GPUs cannot be used; empty = they can, or there are none */
    struct str described;     /* both, and what else is to be said: node.notice points to it */
    usec_t cpus_at, gpus_at;  /* when to look at them again */
    struct gpu_look *looking; /* at the GPUs, in another thread; NULL = not now */
    VEC(struct held *) held;  /* ordered by job and attempt */
    VEC(struct dying) dying;
    usec_t look_at, look_pause; /* when to look at them, and then again */
};

/* The groups above those of attempts are gone: makes them again. */
int local_open_groups_again(struct runtime *r, struct err *err);

#endif
