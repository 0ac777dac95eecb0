/* Logs of attempts, by offset. */
#ifndef RUNTIME_KUBERNETES_LOG_H
#define RUNTIME_KUBERNETES_LOG_H

#include "runtime/kubernetes/kubernetes.h"

/* As in the contract. */
void kube_log_fetch(struct runtime *r, struct attempt_id id, const char *node, int64_t offset);

#endif
