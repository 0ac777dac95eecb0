/* What this machine has, now: CPUs and GPUs may vanish and come back while the server runs. */
#ifndef RUNTIME_LOCAL_MACHINE_H
#define RUNTIME_LOCAL_MACHINE_H

#include "runtime/local/cgroup_find.h"
#include "runtime/runtime.h"

/* Reads what there is. GPUs that cannot be used are in the node's notice. */
int machine_open(struct runtime *r, const struct cgroup_mounts *m, struct err *err);
void machine_close(struct runtime *r);
/* Fills in r->node, for the host. */
void machine_describe(struct runtime *r);

/* When to look again; looks, and tells the host of what has changed. */
usec_t machine_due(const struct runtime *r);
void machine_turn(struct runtime *r, usec_t now);

#endif
