/* Operations of the server, each a chain of requests to the API server. */
#ifndef RUNTIME_KUBERNETES_OPERATIONS_H
#define RUNTIME_KUBERNETES_OPERATIONS_H

#include "runtime/kubernetes/kubernetes.h"

typedef void (*kube_done_fn)(void *ctx, const struct call_reply *r);

/* Asks on behalf of the attempt's operation, within its deadline. `path` follows that of the pod,
 * "" = the pod itself; `body` may be NULL. */
void kube_operation_ask(struct kube_attempt *a, const char *method, const char *path,
                        const char *type, const char *body, kube_done_fn done);
/* The same with a path of its own. */
void kube_operation_ask_at(struct kube_attempt *a, const char *method, const char *path,
                           const char *type, const char *body, kube_done_fn done);
/* Completes the operation. */
void kube_operation_complete(struct kube_attempt *a, const struct err *err);
/* Whether the reply is a success; if not, the operation is complete with its error. */
bool kube_operation_succeeded(struct kube_attempt *a, const struct call_reply *r);

void kube_operation_begin(struct kube_attempt *a);
/* The watch has told something about the pod, or it is time to look: goes on with what waits. */
void kube_operation_look(struct kube_attempt *a, usec_t now);

/* Whether the cluster has removed the machine of a pod that is being deleted: nobody will ever say
 * more about the pod. */
bool kube_operation_is_orphan(const struct kube_attempt *a, const struct kube_pod *p);
/* Removes our finaliser from a pod, so that it can go. */
void kube_operation_release(struct runtime *r, const char *pod);

#endif
