/* How a cluster is reached: from a kubeconfig, or from the service account of the pod that we run
 * in. */
#ifndef RUNTIME_KUBERNETES_CONFIG_H
#define RUNTIME_KUBERNETES_CONFIG_H

#include <stdbool.h>

#include "base/err.h"
#include "base/mem.h"

/* A program that prints credentials (client.authentication.k8s.io). */
struct kube_plugin {
    const char *command;      /* NULL = none */
    const char **args, **env; /* end with NULL; env has "NAME=VALUE" */
    const char *version;      /* of the API that it speaks */
    const char *hint;         /* how to install it; NULL = none */
};

/* Texts are in the arena; NULL = none. */
struct kube_config {
    const char *server; /* https://HOST:PORT, maybe with a path, without a slash at the end */
    const char *name;   /* of the context, for users */
    const char *namespace;
    const char *ca, *cert, *key; /* PEM */
    const char *server_name;     /* that the certificate is for, if not the host's */
    bool insecure;               /* the certificate is not checked */
    const char *token;
    const char *token_file; /* read again now and then: it is replaced before it expires */
    const char *user, *password;
    struct kube_plugin plugin;
};

/* Where to look, as the environment says; for tests another. */
struct kube_places {
    const char *kubeconfig;  /* paths with colons between; NULL = there is none */
    const char *account;     /* directory of the service account */
    const char *host, *port; /* of the API, for pods; NULL = we do not run in one */
};

/* KUBECONFIG, or else ~/.kube/config; and what Kubernetes tells its pods. */
void kube_places_find(struct arena *a, struct kube_places *out);

/* `context` is one of the kubeconfig, "in-cluster" for the service account, or NULL for the
 * current context, or the service account if there is no kubeconfig. */
int kube_config_read(const struct kube_places *places, const char *context, struct arena *a,
                     struct kube_config *out, struct err *err);

#endif
