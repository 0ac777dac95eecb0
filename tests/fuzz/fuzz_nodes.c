/* Owns the fuzzing of cluster specifications and node files. */
#include <stdint.h>
#include <stdlib.h>

#include "sim/nodes.h"

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
    free(spec);
    arena_done(&a);
    return 0;
}
