/* Owns the list of GPUs. The library is loaded at run time, because most machines do not
 * have it. The few functions and the one struct of its stable interface (nvml.h of the
 * CUDA toolkit) that are used here are declared here. */
#include "runtime/local/gpu.h"

#include <dlfcn.h>
#include <stdio.h>

enum { NVML_SUCCESS = 0, NVML_DRIVER = 9 };

struct nvml_memory {
    unsigned long long total, free, used;
};

struct nvml {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *n);
    int (*handle)(unsigned index, void **device);
    int (*uuid)(void *device, char *text, unsigned size);
    int (*name)(void *device, char *text, unsigned size);
    int (*memory)(void *device, struct nvml_memory *out);
};

static int nvml_load(struct nvml *n, const char *library, struct err *err)
{
    const struct {
        const char *name;
        void *function;
    } symbols[] = {
        {"nvmlInit_v2", &n->init},
        {"nvmlShutdown", &n->shutdown},
        {"nvmlDeviceGetCount_v2", &n->count},
        {"nvmlDeviceGetHandleByIndex_v2", &n->handle},
        {"nvmlDeviceGetUUID", &n->uuid},
        {"nvmlDeviceGetName", &n->name},
        {"nvmlDeviceGetMemoryInfo", &n->memory},
    };
    for (size_t i = 0; i < COUNT_OF(symbols); i++) {
        void *found = dlsym(n->library, symbols[i].name);
        if (!found)
            return err_set(err, ERR_IO, "%s has no %s", library, symbols[i].name);
        memcpy(symbols[i].function, &found, sizeof found);
    }
    return 0;
}

static int read_gpu(const struct nvml *n, unsigned index, struct gpu *out)
{
    void *device;
    struct nvml_memory memory;
    struct gpu g = {.index = index};
    if (n->handle(index, &device) != NVML_SUCCESS ||
        n->uuid(device, g.uuid, sizeof g.uuid) != NVML_SUCCESS ||
        n->name(device, g.model, sizeof g.model) != NVML_SUCCESS ||
        n->memory(device, &memory) != NVML_SUCCESS)
        return -1;
    g.memory_mb = (int64_t)(memory.total >> 20);
    *out = g;
    return 0;
}

static int read_gpus(const struct nvml *n, struct gpus *g, struct err *err)
{
    unsigned count = 0;
    if (n->count(&count) != NVML_SUCCESS)
        return err_set(err, ERR_IO, "NVML did not report the number of GPUs");
    for (unsigned i = 0; i < count; i++) {
        struct gpu found;
        if (read_gpu(n, i, &found))
            return err_set(err, ERR_IO, "NVML cannot read GPU %u; see nvidia-smi", i);
        VEC_PUSH(&g->gpu, found);
    }
    return 0;
}

static uint32_t count_model(const struct gpus *g, const char *model)
{
    uint32_t n = 0;
    for (size_t i = 0; i < g->gpu.n; i++)
        n += strcmp(g->gpu.at[i].model, model) == 0;
    return n;
}

static void keep_one_model(struct gpus *g)
{
    char model[sizeof g->gpu.at->model] = "";
    size_t kept = 0;
    for (size_t i = 0; i < g->gpu.n; i++)
        if (count_model(g, g->gpu.at[i].model) > count_model(g, model))
            memcpy(model, g->gpu.at[i].model, sizeof model);
    for (size_t i = 0; i < g->gpu.n; i++)
        if (strcmp(g->gpu.at[i].model, model) == 0)
            g->gpu.at[kept++] = g->gpu.at[i];
        else
            str_addf(&g->left_out, "%sGPU %u (%s) is not used: most GPUs here are %s",
                     g->left_out.n ? "; " : "", g->gpu.at[i].index, g->gpu.at[i].model, model);
    g->gpu.n = kept;
}

int gpus_find(struct gpus *g, const char *library, struct err *err)
{
    struct gpus found = {0};
    struct nvml n = {0};
    const char *name = library ? library : "libnvidia-ml.so.1";
    n.library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    int result = n.library ? nvml_load(&n, name, err) : 0, code = NVML_SUCCESS;
    if (n.library && !result && (code = n.init()) == NVML_SUCCESS) {
        result = read_gpus(&n, &found, err);
        n.shutdown();
    } else if (code != NVML_SUCCESS) {
        result = err_set(err, ERR_IO, "%s cannot be initialised (NVML error %d%s); see nvidia-smi",
                         name, code, code == NVML_DRIVER ? ": the driver is not loaded" : "");
    }
    if (n.library)
        dlclose(n.library);
    if (result) {
        gpus_done(&found);
        return -1;
    }
    keep_one_model(&found);
    *g = found;
    return 0;
}

void gpus_done(struct gpus *g)
{
    VEC_DONE(&g->gpu);
    str_done(&g->left_out);
}

void gpus_take(struct gpus *g, struct gpus_grant *grant)
{
    for (size_t i = 0; i < grant->share.n; i++)
        g->gpu.at[grant->share.at[i].gpu].load -= grant->share.at[i].units;
    VEC_DONE(&grant->share);
}

static bool had_gpu(const struct gpus_grant *old, uint32_t gpu)
{
    for (size_t i = 0; i < old->share.n; i++)
        if (old->share.at[i].gpu == gpu)
            return true;
    return false;
}

/* Smaller is better: where it was and fits, next to others, on a free one, then where the
 * least is given away. */
static uint32_t rank(const struct gpus *g, const struct gpus_grant *old, uint32_t gpu,
                     uint32_t part)
{
    uint32_t load = g->gpu.at[gpu].load;
    bool fits = load + part <= UNIT;
    return !fits ? 4 + load : had_gpu(old, gpu) ? 0 : load ? 1 : 2;
}

void gpus_claim(struct gpus *g, struct gpus_grant *grant, const char *uuid)
{
    for (uint32_t i = 0; i < g->gpu.n; i++) {
        if (strcmp(g->gpu.at[i].uuid, uuid) != 0)
            continue;
        g->gpu.at[i].load += UNIT;
        VEC_PUSH(&grant->share, (struct gpus_share){i, UNIT});
    }
}

void gpus_move(struct gpus_grant *grant, const struct gpus *old, struct gpus *new)
{
    struct gpus_grant now = {0};
    for (size_t i = 0; i < grant->share.n; i++)
        for (uint32_t k = 0; k < new->gpu.n; k++)
            if (!strcmp(old->gpu.at[grant->share.at[i].gpu].uuid, new->gpu.at[k].uuid)) {
                new->gpu.at[k].load += grant->share.at[i].units;
                VEC_PUSH(&now.share, (struct gpus_share){k, grant->share.at[i].units});
            }
    VEC_DONE(&grant->share);
    *grant = now;
}

void gpus_give(struct gpus *g, struct gpus_grant *grant, units_t want)
{
    struct gpus_grant old = {0}, now = {0};
    for (size_t i = 0; i < grant->share.n; i++)
        VEC_PUSH(&old.share, grant->share.at[i]);
    gpus_take(g, grant);
    for (size_t n = 0; want > 0 && n < g->gpu.n; n++) {
        uint32_t part = want < UNIT ? (uint32_t)want : UNIT, best = UINT32_MAX;
        for (uint32_t i = 0; i < g->gpu.n; i++)
            if (!had_gpu(&now, i) &&
                (best == UINT32_MAX || rank(g, &old, i, part) < rank(g, &old, best, part)))
                best = i;
        g->gpu.at[best].load += part;
        VEC_PUSH(&now.share, (struct gpus_share){best, part});
        want -= part;
    }
    VEC_DONE(&old.share);
    *grant = now;
}
