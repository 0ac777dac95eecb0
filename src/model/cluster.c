/* Owns the capacity of a cluster. */
#include "model/cluster.h"

#include <stdio.h>

#include "base/str.h"

unsigned cluster_pools(const struct cluster *c)
{
    unsigned pools = POOL_GPU;
    while (pools < POOLS_MAX && c->gpu_types[pools - POOL_GPU])
        pools++;
    return pools;
}

unsigned cluster_gpu_pool(const struct cluster *c, const char *type)
{
    for (unsigned pool = POOL_GPU; pool < cluster_pools(c); pool++)
        if (str_equal_nocase(c->gpu_types[pool - POOL_GPU], type))
            return pool;
    return POOLS_MAX;
}

units_t cluster_size(const struct cluster *c, unsigned pool, bool usable)
{
    units_t sum = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (!usable || c->nodes[i].state == NODE_UP)
            sum += node_size(&c->nodes[i], pool);
    return sum;
}

/* Units of the pool that the job could hold on the empty node, given its memory, its
 * devices and the CPUs that go with GPUs. */
static units_t node_allows(const struct node *n, const struct job *j, unsigned pool)
{
    if ((n->memory_mb && j->memory_mb > n->memory_mb) || !devices_fit(&j->devices, &n->devices))
        return 0;
    units_t room = node_size(n, pool);
    if (pool != POOL_CPU && j->cpus > 0) {
        units_t by_cpu = n->cpus / j->cpus * UNIT;
        room = by_cpu < room ? by_cpu : room;
    }
    return job_whole_workers(j, room);
}

/* The sum of what the job could hold on the j->nodes nodes that can hold most. */
static units_t most_on_few(const struct cluster *c, const struct job *j, unsigned pool, bool usable)
{
    units_t sum = 0, last = INT64_MAX;
    uint32_t last_at = UINT32_MAX;
    for (uint32_t k = 0; k < j->nodes; k++) {
        units_t best = 0;
        uint32_t at = UINT32_MAX;
        for (uint32_t i = 0; i < c->n; i++) {
            bool out = usable && c->nodes[i].state != NODE_UP;
            units_t here = out ? 0 : node_allows(&c->nodes[i], j, pool);
            bool later = here < last || (here == last && last_at != UINT32_MAX && i > last_at);
            if (later && here > best) {
                best = here;
                at = i;
            }
        }
        if (!best)
            break;
        sum += last = best;
        last_at = at;
    }
    return sum;
}

units_t cluster_most(const struct cluster *c, const struct job *j, unsigned pool, bool usable)
{
    units_t room = 0;
    if (!job_takes_pool(j, pool))
        return 0;
    if (j->worker && j->nodes && j->nodes < c->n)
        return most_on_few(c, j, pool, usable);
    for (uint32_t i = 0; i < c->n; i++) {
        if (usable && c->nodes[i].state != NODE_UP)
            continue;
        units_t here = node_allows(&c->nodes[i], j, pool);
        room = j->whole ? (here > room ? here : room) : room + here;
    }
    return room;
}

/* " and 2 tpu and 1 fpga"; devices without a name are not for people */
static void say_devices(const struct cluster *c, const struct devices *d, char *out, size_t size)
{
    size_t n = 0;
    for (int i = 0; i < DEVICES_MAX; i++)
        if (d->of[i] && c->device_names[i] && n < size)
            n += (size_t)snprintf(out + n, size - n, " and %d %.20s", d->of[i], c->device_names[i]);
}

int cluster_can_hold(const struct cluster *c, const struct job *j, struct err *err)
{
    units_t most = 0;
    for (unsigned pool = 0; pool < cluster_pools(c); pool++) {
        units_t room = cluster_most(c, j, pool, false);
        most = room > most ? room : most;
    }
    if (most >= j->min)
        return 0;
    char memory[48] = "", cpus[48] = "", devices[128] = "";
    const char *unit = j->pool == POOL_CPU ? "CPU" : "GPU";
    if (j->memory_mb)
        snprintf(memory, sizeof memory, " with %lld MB of memory", (long long)j->memory_mb);
    if (j->cpus)
        snprintf(cpus, sizeof cpus, " with %g CPU%s each", (double)j->cpus / UNIT,
                 j->cpus == UNIT ? "" : "s");
    say_devices(c, &j->devices, devices, sizeof devices);
    return err_set(err, ERR_LIMIT, "needs %g %s%s%s%s%s%s, but the cluster has at most %g",
                   (double)j->min / UNIT, unit, j->min == UNIT ? "" : "s", cpus, memory, devices,
                   j->whole   ? " on one node"
                   : j->apart ? " on nodes of their own"
                              : "",
                   (double)most / UNIT);
}
