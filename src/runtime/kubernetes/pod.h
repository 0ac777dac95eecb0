/* What the API server is asked to create, as JSON. Pure. */
#ifndef RUNTIME_KUBERNETES_POD_H
#define RUNTIME_KUBERNETES_POD_H

#include <jansson.h>

#include "base/str.h"
#include "runtime/runtime.h"

/* Where our files are in a container. */
#define POD_ROOT "/.trainyard"
#define POD_BIN POD_ROOT "/bin"
#define POD_CONDUCTOR POD_BIN "/trainyard-conductor"
#define POD_LIBRARY POD_BIN "/libtrainyard-malleable.so"
#define POD_LINES POD_BIN "/libtrainyard-lines.so"
#define POD_TORCHRUN POD_BIN "/trainyard_torchrun.py"
#define POD_HOSTS POD_BIN "/trainyard_hosts.py"
#define POD_ATTEMPT POD_ROOT "/attempt"
#define POD_SOCKET POD_ATTEMPT "/socket"
#define POD_CHECKPOINTS POD_ROOT "/checkpoints"
#define POD_INPUT POD_ROOT "/input"
#define POD_END "/dev/termination-log"

/* The placing of pods. */
#define POD_SCHEDULER "trainyard"
#define POD_SCHEDULER_NONE "trainyard-void"

struct pod_request {
    struct attempt_id id;
    const char *name, *yard;
    const char *tools;      /* image of our programs */
    const json_t *template; /* of pods: metadata and spec; NULL = none */
    const struct runtime_container *container;
    const struct runtime_size *size;
    units_t cpus_least, cpus_most; /* that it may have while it runs */
    bool resizes;                  /* its size can be changed in place */
    bool delegate;                 /* the cluster's scheduler places it */
    const char *gpu_resource;      /* NULL = it has none */
    const char *workdir;           /* NULL = the image's */
    const char *checkpoints;       /* name of a claim for checkpoints; NULL = none */
    usec_t grace;
};

void pod_add_create(const struct pod_request *q, struct str *out);
/* A pod that only occupies the name, and never runs. */
void pod_add_void(const struct pod_request *q, struct str *out);
/* The specification of the attempt, as a secret that goes with the pod. */
void pod_add_secret(const struct pod_request *q, const char *uid, const char *spec,
                    const char *script, struct str *out);
/* Puts the pod onto the node. */
void pod_add_binding(const char *name, const char *uid, const char *node, struct str *out);
/* Changes its size in place. */
void pod_add_resize(const struct runtime_size *size, struct str *out);
/* Deletes it if it is this one: with `version`, only if it has not changed since. */
void pod_add_delete(const char *uid, const char *version, int grace_s, struct str *out);

#endif
