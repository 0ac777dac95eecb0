/* The nodes of the cluster, as the server gets to see them: what they have, less what pods of
 * others ask for. */
#ifndef RUNTIME_KUBERNETES_CLUSTER_H
#define RUNTIME_KUBERNETES_CLUSTER_H

#include "runtime/runtime.h"

struct kube_cluster;

struct kube_cluster *kube_cluster_create(struct runtime *r);
void kube_cluster_free(struct kube_cluster *c);
/* Engine time at which to call kube_cluster_turn(), which reports what has changed. */
usec_t kube_cluster_due(const struct kube_cluster *c);
void kube_cluster_turn(struct kube_cluster *c, usec_t now);
/* Whether the API server answers. */
bool kube_cluster_connected(const struct kube_cluster *c);
/* Why it does not. */
const char *kube_cluster_trouble(const struct kube_cluster *c);
/* The resource of the node's GPUs; NULL = it has none. Valid until the next turn. */
const char *kube_cluster_gpu_resource(const struct kube_cluster *c, const char *node);
/* CPUs of the node's machine; 0 = unknown. */
int kube_cluster_processors(const struct kube_cluster *c, const char *node);
/* Whether the cluster has this node. */
bool kube_cluster_has(const struct kube_cluster *c, const char *node);

#endif
