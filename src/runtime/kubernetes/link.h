/* The link to a conductor, through the API server and its node. */
#ifndef RUNTIME_KUBERNETES_LINK_H
#define RUNTIME_KUBERNETES_LINK_H

#include "runtime/kubernetes/kubernetes.h"

/* For a new attempt. */
void kube_link_init(struct kube_attempt *a);

#endif
