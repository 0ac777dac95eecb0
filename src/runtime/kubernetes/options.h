/* What the operator says about a cluster. */
#ifndef RUNTIME_KUBERNETES_OPTIONS_H
#define RUNTIME_KUBERNETES_OPTIONS_H

#include <stdbool.h>

/* Texts; NULL = the default. */
struct kube_options {
    const char *context;     /* of the kubeconfig, or "in-cluster"; NULL = the current one */
    const char *namespace;   /* of the pods; NULL = that of the context */
    const char *image;       /* of our programs, as `make image` builds it */
    const char *template;    /* path of a pod template, YAML or JSON */
    const char *checkpoints; /* name of a claim that checkpoints are kept in */
    const char *lease;       /* name of the Lease that the active server holds; NULL = none */
    bool jobs;               /* TrainingJobs of the namespace are run */
    bool delegate;           /* the cluster's scheduler places pods */
};

#endif
