/* What nodes hold, counted while a plan is checked or carried out. */
#ifndef ENGINE_LOAD_H
#define ENGINE_LOAD_H

#include "engine/engine.h"

struct load {
    units_t cpu, gpu;
    int64_t memory;
    struct devices devices;
};

/* Adds units of the pool that the job holds, with the CPUs that go with them; a
 * negative number takes them away. */
void load_add_units(struct load *load, const struct job *j, unsigned pool, units_t n);
/* Adds (sign 1) or takes away (-1) the memory and the devices that the job has on a node. */
void load_add_memory(struct load *load, const struct job *j, int sign);
/* Adds (sign 1) or takes away (-1) a placement of the job, with or without its
 * memory and its devices.
 * `load` is by node. */
void load_add_place(struct load *load, const struct job *j, unsigned pool,
                    const struct placement *at, int sign, bool memory);

#endif
