/* The start of an attempt. */
#ifndef RUNTIME_KUBERNETES_START_H
#define RUNTIME_KUBERNETES_START_H

#include "runtime/kubernetes/kubernetes.h"

/* Begins it, for the operation of the attempt. */
void kube_start_pod(struct kube_attempt *a);
/* Looks how far it is. */
void kube_start_look(struct kube_attempt *a, usec_t now);
/* Frees it; NULL is allowed. */
void kube_start_done(struct kube_start *s);

#endif
