/* The definition of the custom resource TrainingJob, made from the table of a job's fields. */
#ifndef SERVER_KUBERNETES_CRD_H
#define SERVER_KUBERNETES_CRD_H

#include "base/str.h"

/* Appends the CustomResourceDefinition, as YAML. */
void crd_print(struct str *out);

#endif
