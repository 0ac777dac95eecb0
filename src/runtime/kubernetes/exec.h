/* A program that is executed in a container of a pod, with its standard streams, through a
 * WebSocket to the API server (v4.channel.k8s.io). */
#ifndef RUNTIME_KUBERNETES_EXEC_H
#define RUNTIME_KUBERNETES_EXEC_H

#include "runtime/kubernetes/api.h"

struct kube_exec;

struct kube_exec_user {
    /* The program runs, and can be written to. */
    void (*opened)(void *ctx);
    /* What the program wrote to standard output. */
    void (*bytes)(void *ctx, const char *bytes, size_t n);
    /* It has ended, or could not be started. The exec is gone. */
    void (*closed)(void *ctx, const struct err *why);
};

/* `path` is that of the exec with the command in its query. */
struct kube_exec *kube_exec_open(struct kube_api *api, const char *path,
                                 const struct kube_exec_user *user, void *ctx);
/* Writes to its standard input, in order. */
void kube_exec_send(struct kube_exec *e, const char *bytes, size_t n);
/* Ends it; `closed` is not called. NULL is allowed. */
void kube_exec_close(struct kube_exec *e);

/* Whether the head of a response agrees to a WebSocket that was asked for with this key, and to
 * our protocol. */
int kube_exec_check(const char *head, const char *key, struct err *err);

#endif
