/* Owns the description of a container: unprivileged, with the limits of its attempt, and with
 * our conductor as its first process.
 *
 * CPUs are given as NanoCpus throughout, because engines refuse to mix that with a quota. */
#include "runtime/docker/container.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "runtime/docker/answers.h"

#define NANO 1000000LL /* nanoseconds of CPU time for a thousandth of a CPU */
enum { SHARES_LEAST = 2, SHARES_MOST = 262144, SHARES_ONE = 1024, PIDS_DEFAULT = 32768 };

static json_t *text(const char *s)
{
    struct str valid = {0};
    str_add_utf8(&valid, s);
    json_t *v = json_string(valid.at);
    str_done(&valid);
    return v;
}

static json_t *number(int64_t n)
{
    return json_integer((json_int_t)n);
}

/* ---- limits ------------------------------------------------------------------------- */

static int64_t shares(double weight)
{
    double n = round(weight * SHARES_ONE);
    return n < SHARES_LEAST ? SHARES_LEAST : n > SHARES_MOST ? SHARES_MOST : (int64_t)n;
}

static json_t *limits(const struct runtime_size *s, units_t node_cpus)
{
    units_t cpus = s->cpu_limit < node_cpus ? s->cpu_limit : node_cpus;
    json_t *v = json_object();
    json_object_set_new(v, "NanoCpus", number(cpus * NANO));
    json_object_set_new(v, "CpuShares", number(shares(s->cpu_weight)));
    json_object_set_new(v, "PidsLimit", number(s->pids ? s->pids : PIDS_DEFAULT));
    if (s->memory_mb) {
        json_object_set_new(v, "Memory", number(s->memory_mb << 20));
        json_object_set_new(v, "MemorySwap", number(s->memory_mb << 20));
    }
    return v;
}

static void print(json_t *v, struct str *out)
{
    AUTO_FREE char *json = json_dumps(v, JSON_COMPACT);
    str_add(out, json);
    json_decref(v);
}

void container_add_update(const struct runtime_size *size, units_t node_cpus, struct str *out)
{
    print(limits(size, node_cpus), out);
}

/* Resources as the OCI's runtime specification names them. */
void container_add_podman_update(const struct runtime_size *size, units_t node_cpus,
                                 struct str *out)
{
    enum { PERIOD_US = 100000 };
    units_t cpus = size->cpu_limit < node_cpus ? size->cpu_limit : node_cpus;
    int64_t pids = size->pids ? size->pids : PIDS_DEFAULT;
    json_t *v = json_pack("{s:{s:I, s:i, s:I}, s:{s:I}}", "cpu", "quota",
                          (json_int_t)(cpus * PERIOD_US / UNIT), "period", PERIOD_US, "shares",
                          (json_int_t)shares(size->cpu_weight), "pids", "limit", (json_int_t)pids);
    if (size->memory_mb)
        json_object_set_new(v, "memory",
                            json_pack("{s:I, s:I}", "limit", (json_int_t)size->memory_mb << 20,
                                      "swap", (json_int_t)size->memory_mb << 20));
    print(v, out);
}

/* NAME=SOFT[:HARD], as it was checked when the job was submitted. */
static json_t *ulimit(const char *limit)
{
    const char *value = strchr(limit, '=') + 1, *colon = strchr(value, ':');
    AUTO_FREE char *name = xstrndup(limit, (size_t)(value - limit) - 1);
    long long soft = strtoll(value, NULL, 10), hard = colon ? strtoll(colon + 1, NULL, 10) : soft;
    return json_pack("{s:o, s:I, s:I}", "Name", text(name), "Soft", (json_int_t)soft, "Hard",
                     (json_int_t)hard);
}

static json_t *ulimits(const char **list)
{
    json_t *v = json_array();
    for (size_t i = 0; list && list[i]; i++)
        json_array_append_new(v, ulimit(list[i]));
    return v;
}

/* ---- mounts -------------------------------------------------------------------------- */

/* SOURCE:TARGET[:ro|:rw], as it was checked when the job was submitted. */
static json_t *bind_mount(const char *mount)
{
    const char *target = strchr(mount, ':') + 1, *mode = strchr(target, ':');
    AUTO_FREE char *source = xstrndup(mount, (size_t)(target - mount) - 1);
    AUTO_FREE char *inside = mode ? xstrndup(target, (size_t)(mode - target)) : xstrdup(target);
    return json_pack("{s:s, s:o, s:o, s:b}", "Type", "bind", "Source", text(source), "Target",
                     text(inside), "ReadOnly", mode && !strcmp(mode, ":ro"));
}

static json_t *volume_mount(const char *volume, const char *target)
{
    return json_pack("{s:s, s:o, s:o}", "Type", "volume", "Source", text(volume), "Target",
                     text(target));
}

static json_t *mounts(const struct container_request *q)
{
    json_t *v = json_array();
    for (size_t i = 0; q->container->mounts && q->container->mounts[i]; i++)
        json_array_append_new(v, bind_mount(q->container->mounts[i]));
    if (q->volume)
        json_array_append_new(v, volume_mount(q->volume, q->checkpoints));
    return v;
}

bool container_mounts_path(const struct runtime_container *c, const char *path)
{
    size_t n = 0;
    while (c->mounts && c->mounts[n])
        n++;
    return runtime_is_mounted(c->mounts, n, path);
}

/* ---- the whole ------------------------------------------------------------------------- */

static json_t *labels(const struct container_request *q)
{
    json_t *v = json_object();
    json_object_set_new(v, LABEL_YARD, json_string(q->yard));
    json_object_set_new(v, LABEL_JOB, json_sprintf("%lld", (long long)q->id.job));
    json_object_set_new(v, LABEL_ATTEMPT, json_sprintf("%u", q->id.n));
    if (q->id.part)
        json_object_set_new(v, LABEL_PART, json_sprintf("%u", q->id.part));
    json_object_set_new(v, LABEL_LOG_PART, json_sprintf("%lld", (long long)q->log_part));
    if (q->gpus)
        json_object_set_new(v, LABEL_GPUS, json_sprintf("%llu", (unsigned long long)q->gpus));
    return v;
}

/* Each GPU by its index, so that no two jobs have the same one. */
static json_t *gpu_requests(uint64_t gpus)
{
    json_t *ids = json_array();
    for (int i = 0; i < CONTAINER_GPUS_MAX; i++)
        if (gpus >> i & 1)
            json_array_append_new(ids, json_sprintf("%d", i));
    return json_pack("[{s:o, s:[[s]]}]", "DeviceIDs", ids, "Capabilities", "gpu");
}

static json_t *host_config(const struct container_request *q)
{
    json_t *v = limits(q->size, q->node_cpus);
    json_object_set_new(v, "Mounts", mounts(q));
    json_object_set_new(v, "Ulimits", ulimits(q->container->ulimits));
    json_object_set_new(v, "CapDrop", json_pack("[s]", "ALL"));
    json_object_set_new(v, "SecurityOpt", json_pack("[s]", "no-new-privileges"));
    if (q->gpus)
        json_object_set_new(v, "DeviceRequests", gpu_requests(q->gpus));
    if (q->container->host_network)
        json_object_set_new(v, "NetworkMode", json_string("host"));
    if (q->container->shm_mb)
        json_object_set_new(v, "ShmSize", number(q->container->shm_mb << 20));
    return v;
}

void container_add_reader(const char *yard, int64_t job, const char *image, const char *volume,
                          const char *checkpoints, struct str *out)
{
    print(json_pack("{s:o, s:[s], s:{s:s, s:o, s:s}, s:{s:[o], s:s}}", "Image", text(image), "Cmd",
                    "none", "Labels", LABEL_YARD, yard, LABEL_JOB,
                    json_sprintf("%lld", (long long)job), LABEL_ATTEMPT, "0", "HostConfig",
                    "Mounts", volume_mount(volume, checkpoints), "NetworkMode", "none"),
          out);
}

void container_add_create(const struct container_request *q, struct str *out)
{
    json_t *v = json_object();
    json_object_set_new(v, "Image", text(q->container->image));
    json_object_set_new(v, "Entrypoint",
                        json_pack("[s, s]", CONTAINER_CONDUCTOR, CONTAINER_ATTEMPT));
    json_object_set_new(v, "Cmd", json_array());
    json_object_set_new(v, "WorkingDir", text(q->workdir));
    if (q->container->run_as)
        json_object_set_new(v, "User", text(q->container->run_as));
    json_object_set_new(v, "Labels", labels(q));
    json_object_set_new(v, "Healthcheck", json_pack("{s:[s]}", "Test", "NONE"));
    /* Where the engine hands out GPUs by itself, a job that has asked for none gets none. */
    if (!q->size->gpus)
        json_object_set_new(v, "Env", json_pack("[s]", "NVIDIA_VISIBLE_DEVICES=void"));
    json_object_set_new(v, "HostConfig", host_config(q));
    print(v, out);
}
