/* Our pods, as the watch tells of them. */
#ifndef RUNTIME_KUBERNETES_PODS_H
#define RUNTIME_KUBERNETES_PODS_H

#include "runtime/kubernetes/kubernetes.h"

/* Begins to follow them. */
void kube_pods_follow(struct runtime *r);
/* Asks the API server whether pods can be resized. */
void kube_pods_discover(struct runtime *r);

#endif
