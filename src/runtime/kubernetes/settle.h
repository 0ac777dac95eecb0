/* What became of an attempt. */
#ifndef RUNTIME_KUBERNETES_SETTLE_H
#define RUNTIME_KUBERNETES_SETTLE_H

#include "runtime/kubernetes/kubernetes.h"

void kube_settle_pod(struct kube_attempt *a);
void kube_settle_look(struct kube_attempt *a, usec_t now);

#endif
