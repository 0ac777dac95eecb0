/* Where the kernel's control groups are mounted, and where in them this process is. */
#ifndef RUNTIME_LOCAL_CGROUP_FIND_H
#define RUNTIME_LOCAL_CGROUP_FIND_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "model/speed.h"

/* Bits; the name in v1 and in v2, NULL where there is none. */
#define CGROUP_CONTROLLERS(X)                                                                      \
    X(CPU, "cpu", "cpu")                                                                           \
    X(CPUACCT, "cpuacct", NULL)                                                                    \
    X(CPUSET, "cpuset", "cpuset")                                                                  \
    X(MEMORY, "memory", "memory")                                                                  \
    X(PIDS, "pids", "pids")                                                                        \
    X(FREEZER, "freezer", NULL)                                                                    \
    X(IO, "blkio", "io")

enum cgroup_controller_index {
#define X(name, v1, v2) CGROUP_INDEX_##name,
    CGROUP_CONTROLLERS(X)
#undef X
        CGROUP_CONTROLLER_COUNT
};

enum cgroup_controller {
#define X(name, v1, v2) CGROUP_##name = 1 << CGROUP_INDEX_##name,
    CGROUP_CONTROLLERS(X)
#undef X
};

/* NULL when this version has no such controller. */
const char *cgroup_controller_name(unsigned index, bool v2);

struct cgroup_mount {
    char *point; /* directory of the hierarchy's root, as far as it can be seen */
    char *own;   /* directory of this process: `point` or below it */
    bool v2;
    unsigned controllers;
};

enum { CGROUP_MOUNTS_MAX = 16 };
struct cgroup_mounts {
    struct cgroup_mount at[CGROUP_MOUNTS_MAX];
    uint32_t n;
};

/* Reads self/mountinfo and self/cgroup below `proc` ("/proc"). No mounts at all
 * is no error. */
int cgroup_find(const char *proc, struct cgroup_mounts *out, struct err *err);
void cgroup_mounts_done(struct cgroup_mounts *m);

/* The least CPU quota (thousandths) and memory limit (bytes) that this process or any
 * group above it has; INT64_MAX = none. */
void cgroup_own_limits(const struct cgroup_mounts *m, units_t *cpus, int64_t *memory);

#endif
