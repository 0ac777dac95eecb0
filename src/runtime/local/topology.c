/* Owns the view of the machine's CPUs. hwloc's own topology is large, and is freed as
 * soon as the few numbers that placement needs are read from it. */
#include "runtime/local/topology.h"

#include <hwloc.h>

#include "base/mem.h"

static uint32_t index_of(const struct hwloc_obj *o, uint32_t none)
{
    return o ? o->logical_index : none;
}

static void read_cpu(hwloc_topology_t h, hwloc_obj_t pu, struct topology_cpu *out)
{
    hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(h, HWLOC_OBJ_PACKAGE, pu);
    hwloc_obj_t l3 = hwloc_get_ancestor_obj_by_type(h, HWLOC_OBJ_L3CACHE, pu);
    hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(h, HWLOC_OBJ_CORE, pu);
    int numa = pu->nodeset ? hwloc_bitmap_first(pu->nodeset) : 0;
    out->os = pu->os_index;
    out->group[TOPOLOGY_CORE] = index_of(core, pu->logical_index);
    out->group[TOPOLOGY_PACKAGE] = index_of(package, 0);
    out->group[TOPOLOGY_L3] = index_of(l3, out->group[TOPOLOGY_PACKAGE]);
    out->group[TOPOLOGY_NUMA] = numa > 0 ? (uint32_t)numa : 0;
}

/* Numbers the groups of each level from 0 in order of appearance: the CPUs that are
 * left out, and NUMA nodes by the kernel's numbers, leave gaps. */
static void number_groups(struct topology *t, unsigned level)
{
    uint32_t *seen AUTO_FREE = xcalloc(t->n, sizeof *seen), n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint32_t g = 0;
        while (g < n && seen[g] != t->cpu[i].group[level])
            g++;
        if (g == n)
            seen[n++] = t->cpu[i].group[level];
        t->cpu[i].group[level] = g;
    }
}

static int read_cpus(struct topology *t, hwloc_topology_t h, const struct cpuset *usable,
                     struct err *err)
{
    int n = hwloc_get_nbobjs_by_type(h, HWLOC_OBJ_PU);
    struct topology found = {xcalloc(n > 0 ? (size_t)n : 1, sizeof *found.cpu), 0};
    for (int i = 0; i < n; i++) {
        hwloc_obj_t pu = hwloc_get_obj_by_type(h, HWLOC_OBJ_PU, (unsigned)i);
        if (!usable || cpuset_has(usable, pu->os_index))
            read_cpu(h, pu, &found.cpu[found.n++]);
    }
    if (!found.n) {
        topology_done(&found);
        return err_set(err, ERR_INTERNAL, "hwloc shows none of the CPUs that this process may use");
    }
    for (unsigned level = 0; level < TOPOLOGY_LEVELS; level++)
        number_groups(&found, level);
    *t = found;
    return 0;
}

int topology_load(struct topology *t, const struct cpuset *usable, const char *synthetic,
                  struct err *err)
{
    hwloc_topology_t h;
    if (hwloc_topology_init(&h))
        return err_set(err, ERR_INTERNAL, "hwloc cannot be set up");
    int result;
    if (synthetic && hwloc_topology_set_synthetic(h, synthetic))
        result = err_set(err, ERR_INVALID, "hwloc does not know the machine '%s'", synthetic);
    else if (hwloc_topology_load(h))
        result = err_set(err, ERR_INTERNAL, "hwloc cannot read this machine's topology");
    else
        result = read_cpus(t, h, usable, err);
    hwloc_topology_destroy(h);
    return result;
}

void topology_done(struct topology *t)
{
    free(t->cpu);
    *t = (struct topology){0};
}

unsigned topology_distance(const struct topology *t, uint32_t a, uint32_t b)
{
    unsigned apart = 0;
    for (unsigned level = 0; level < TOPOLOGY_LEVELS; level++)
        apart += t->cpu[a].group[level] != t->cpu[b].group[level];
    return apart;
}
