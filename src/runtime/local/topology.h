/* How near the CPUs of a machine are to each other, according to hwloc. */
#ifndef RUNTIME_LOCAL_TOPOLOGY_H
#define RUNTIME_LOCAL_TOPOLOGY_H

#include <stdint.h>

#include "base/err.h"
#include "runtime/local/cpuset.h"

/* From near to far. A level that the machine does not show is one group. */
enum topology_level {
    TOPOLOGY_CORE,
    TOPOLOGY_L3,
    TOPOLOGY_NUMA,
    TOPOLOGY_PACKAGE,
    TOPOLOGY_LEVELS
};

/* A CPU is what the kernel calls one: a hardware thread. */
struct topology_cpu {
    uint32_t os;                     /* the kernel's number */
    uint32_t group[TOPOLOGY_LEVELS]; /* below topology.n; equal = they share it */
};

struct topology {
    struct topology_cpu *cpu; /* in hwloc's order: neighbours stand together */
    uint32_t n;
};

/* This machine's CPUs that are in *usable, or those of a machine in hwloc's
 * synthetic notation ("package:2 l3:1 core:4 pu:2"); then *usable may be NULL. */
int topology_load(struct topology *t, const struct cpuset *usable, const char *synthetic,
                  struct err *err);
void topology_done(struct topology *t);

/* 0 = the same core, TOPOLOGY_LEVELS = nothing in common; by index, not by the
 * kernel's number. */
unsigned topology_distance(const struct topology *t, uint32_t a, uint32_t b);

#endif
