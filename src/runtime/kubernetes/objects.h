/* What we read from objects of the API: nodes and pods. Pure. */
#ifndef RUNTIME_KUBERNETES_OBJECTS_H
#define RUNTIME_KUBERNETES_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

#include "model/speed.h"
#include "runtime/runtime.h"

/* Labels and annotations of ours. */
#define KUBE_LABEL_YARD "trainyard.dev/yard"
#define KUBE_LABEL_JOB "trainyard.dev/job"
#define KUBE_LABEL_ATTEMPT "trainyard.dev/attempt"
#define KUBE_LABEL_PART "trainyard.dev/part" /* from 1; not on part 0 */
#define KUBE_LABEL_VOID "trainyard.dev/void"
#define KUBE_FINALIZER "trainyard.dev/exit"
/* Containers of our pods. */
#define KUBE_CONTAINER "job"
#define KUBE_INIT "tools"

/* ---- nodes ----------------------------------------------------------------------------- */

/* Texts are borrowed from the object. */
struct kube_node_info {
    const char *name;
    units_t cpus;
    int64_t memory_mb;
    units_t gpus;
    const char *gpu_resource; /* "nvidia.com/gpu"; NULL = none */
    char gpu_type[64];
    int64_t processors; /* CPUs of the machine, for affinity */
    bool ready;
    bool closed;      /* no pod of ours may start there */
    char notice[200]; /* why, or what is wrong; "" = nothing */
};

/* `pod` is what our pods have: its nodeSelector and its tolerations decide. False if the node does
 * not match the selector. */
bool kube_node_read(const json_t *node, const json_t *pod, struct kube_node_info *out);

/* ---- pods ------------------------------------------------------------------------------- */

/* What a pod keeps from others on its node. */
struct kube_use {
    const char *node; /* NULL = it is on none, or needs nothing any more */
    units_t cpus, gpus;
    int64_t memory_mb;
};
void kube_use_read(const json_t *pod, struct kube_use *out);

enum kube_pod_state {
    KUBE_UNBOUND, /* it has no node */
    KUBE_WAITING, /* its job has not started */
    KUBE_RUNNING,
    KUBE_ENDED, /* its job has ended, or it never started and never will */
};

/* A pod of ours. Texts are borrowed. */
struct kube_pod {
    struct attempt_id id;
    const char *name, *uid, *version, *yard, *node;
    enum kube_pod_state state;
    bool void_;     /* it only occupies the name */
    bool deleting;  /* somebody has deleted it */
    bool confirmed; /* and its node has ended all that was there */
    bool started;   /* its job has started, whatever became of it */
    bool oom;
    int code;            /* of the conductor; -1 = unknown */
    const char *message; /* what the conductor left, or why the container could not start */
    const char *reason;  /* why it waits or has ended: "ErrImagePull", "Evicted" */
    const char *detail;  /* more of that; "" = nothing */
    double cpus;         /* limit in force; 0 = unknown */
    const char *resize;  /* "Deferred", "Infeasible", "InProgress"; "" = none under way */
};

/* False if it is not one of ours. */
bool kube_pod_read(const json_t *pod, struct kube_pod *out);

#endif
