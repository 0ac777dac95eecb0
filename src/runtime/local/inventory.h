/* What this machine has for jobs: less than all of it where this process is held to
 * some CPUs, to a quota or to an amount of memory, as in a container. */
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
