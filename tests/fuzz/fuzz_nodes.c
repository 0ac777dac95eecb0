/* Owns the fuzzing of cluster specifications, node files and power models. */
#include <stdint.h>
#include <stdlib.h>

#include "sim/nodes.h"
#include "sim/power.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

static void check(int rc, const struct cluster *c, const struct err *err)
{
    if (rc < 0) {
        demand(err->code != ERR_OK && err->text[0]);
        return;
    }
    demand(c->n > 0 && c->n <= 100000);
    for (uint32_t i = 0; i < c->n; i++) {
        const struct node *n = &c->nodes[i];
        demand(*n->name && (n->cpus > 0 || n->gpus > 0));
        demand(!n->gpus || (n->gpu_pool >= POOL_GPU && n->gpu_pool < cluster_pools(c)));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct cluster c = {0};
    struct err err = {0};
    check(nodes_parse_file("fuzz", (const char *)data, size, &a, &c, &err), &c, &err);
    char *spec = xstrndup((const char *)data, size);
    /* Else it would be the path of a file. */
    if (*spec >= '0' && *spec <= '9') {
        c = (struct cluster){0};
        err = (struct err){0};
        check(nodes_parse(spec, &a, &c, &err), &c, &err);
    }
    struct power power = {-1, -1, -1};
    err = (struct err){0};
    int rc = power_parse(spec, &power, &err);
    demand(rc == 0 ? power.idle >= 0 && power.cpu >= 0 && power.gpu >= 0
                   : power.idle == -1 && err.text[0]);
    free(spec);
    arena_done(&a);
    return 0;
}
