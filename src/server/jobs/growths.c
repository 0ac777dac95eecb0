/* Owns keeping the growth efficiency of jobs, whenever a policy has measured it. */
#include "server/jobs/growths.h"

#include "server/log.h"
#include "server/yard.h"
#include "store/growths.h"

static void keep(struct yard *y, const struct live_job *j, const struct growth_point *g)
{
    struct growth_row row = {
        .at = clock_wall(&y->clock),
        .span = g->span,
        .cpu = g->by[GROWTH_CPU],
        .memory = g->by[GROWTH_MEMORY],
        .block = g->by[GROWTH_BLOCK],
        .network = g->by[GROWTH_NETWORK],
    };
    struct err err;
    if (store_growth_add(y->store, j->row.id, j->attempt->n, &row, &err) < 0)
        log_warning("job=%lld growth: %s", (long long)j->row.id, err.text);
}

void growths_keep(struct yard *y)
{
    for (size_t i = 0; i < y->engine.measured.n; i++) {
        uint32_t task = y->engine.measured.at[i];
        const struct live_job *j = yard_job_of_task(y, task);
        if (j && j->attempt && y->engine.tasks[task].history)
            keep(y, j, &y->engine.tasks[task].history->growth);
    }
}
