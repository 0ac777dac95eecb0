/* Owns the counting of what jobs hold on nodes. */
#include "engine/load.h"

void load_add_units(struct load *load, const struct job *j, unsigned pool, units_t n)
{
    load->cpu += job_cpus(j, pool, n);
    load->gpu += pool == POOL_CPU ? 0 : n;
}

void load_add_memory(struct load *load, const struct job *j, int sign)
{
    load->memory += sign * j->memory_mb;
    devices_add(&load->devices, &j->devices, sign);
}

void load_add_place(struct load *load, const struct job *j, unsigned pool,
                    const struct placement *at, int sign, bool memory)
{
    for (uint32_t i = 0; i < at->n; i++) {
        struct load *l = &load[at->at[i].node];
        load_add_units(l, j, pool, sign * at->at[i].units);
        if (memory)
            load_add_memory(l, j, sign);
    }
}
