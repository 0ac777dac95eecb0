/* Owns the fuzzing of tables of pairs of jobs that share GPUs. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "sim/trace/pairs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void demand(int truth)
{
    if (!truth)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const types[] = {"v100", "k80"};
    struct arena a = {0};
    struct pairs p;
    struct err err = {0};
    double rates[2];
    if (pairs_parse("fuzz", (const char *)data, size, &p, &err) < 0) {
        demand(err.code != ERR_OK && err.text[0]);
        return 0;
    }
    pairs_kind(&p, "x", 1, &a)->alone[POOL_GPU] = 4;
    pairs_kind(&p, "y", 1, &a)->alone[POOL_GPU] = 3;
    pairs_fill(&p, types, 2, &a);
    const struct sharing *both[] = {p.kinds.at[0].sharing, p.kinds.at[1].sharing};
    if (sharing_rates(both, 2, POOL_GPU, rates))
        demand(rates[0] > 0 && rates[1] > 0 && isfinite(rates[0]) && isfinite(rates[1]));
    demand(!sharing_rates(both, 2, POOL_GPU + 1, rates));
    pairs_done(&p);
    arena_done(&a);
    return 0;
}
