/* What the Kubernetes runtime knows of its cluster and attempts, for the files of this folder. */
#ifndef RUNTIME_KUBERNETES_KUBERNETES_H
#define RUNTIME_KUBERNETES_KUBERNETES_H

#include <jansson.h>

#include "base/mem.h"
#include "runtime/kubernetes/affinity.h"
#include "runtime/kubernetes/api.h"
#include "runtime/kubernetes/objects.h"
#include "runtime/kubernetes/options.h"
#include "runtime/kubernetes/watch.h"
#include "runtime/remote/relay_link.h"
#include "runtime/runtime.h"

struct kube_exec;
struct kube_start;

/* An attempt that the server wants, or that an operation is about. */
struct kube_attempt {
    struct attempt_id id;
    struct runtime *runtime;
    char *node;
    char name[80];            /* of its pod */
    char uid[64];             /* "" = not known */
    struct runtime_op *op;    /* in progress; NULL = none */
    bool held;                /* the operation waits for the API server to answer */
    struct kube_call *call;   /* of the operation */
    usec_t at;                /* when to look again on its behalf; USEC_NEVER = not */
    struct kube_start *start; /* while it starts */
    bool bound;               /* the start has done its part; the pod's node does the rest */
    bool ran;                 /* its job was seen to run */
    char fault[200];          /* why it can never start; "" = it can */
    struct affinity cpus;     /* of its node that it has, where sizes cannot be changed */

    /* As the watch says. */
    bool known; /* its pod is there */
    bool confirmed;
    enum kube_pod_state state;
    char reason[64], detail[160], resize[16];
    double cpus_in_force;

    struct relay_link link; /* to its conductor */
    struct kube_exec *exec;
    struct kube_call *log_call;
    int64_t log_total; /* bytes of the whole log that is being read; -1 = unknown */
};

struct kube_cluster;

struct runtime {
    struct runtime_host *host;
    struct arena arena; /* of the configuration */
    struct kube_options options;
    struct kube_config config;
    json_t *template; /* of pods; NULL = none */
    struct curl_loop *curl;
    struct kube_api *api;
    char yard[RUNTIME_YARD_SIZE]; /* identity of the state directory */
    struct kube_cluster *cluster;
    struct kube_watch *pods; /* of ours */
    struct kube_call *discovery;
    bool discovered; /* what the API server has */
    bool resizes;    /* pods can be resized in place */
    bool swept;      /* what nobody wants may be removed */
    VEC(struct kube_attempt *) attempts;
};

struct kube_attempt *kube_find(const struct runtime *r, struct attempt_id id);
/* Forgets it; nothing of it may be in progress. */
void kube_forget(struct kube_attempt *a);
usec_t kube_now(const struct runtime *r);
/* The path of our pods, or of one of them with what follows its name. */
void kube_add_pod_path(const struct runtime *r, const char *pod, const char *rest, struct str *out);

#endif
