/* What this machine has for jobs. That is less than all of it if this process is limited
 * to some CPUs, a quota or an amount of memory, as in a container. */
#ifndef RUNTIME_LOCAL_INVENTORY_H
#define RUNTIME_LOCAL_INVENTORY_H

#include "runtime/local/cgroup_find.h"
#include "runtime/local/cpuset.h"

struct inventory {
    struct cpuset usable;
    units_t cpus; /* thousandths */
    int64_t memory_mb;
    char name[256]; /* of the host */
};

int inventory_read(const struct cgroup_mounts *m, struct inventory *out, struct err *err);

#endif
