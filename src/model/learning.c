/* Owns what is left of a job with goodput. Times are summed from the last epoch backwards. */
#include "model/learning.h"

struct goodput_batch learning_batch(const struct learning *l, const struct shape *shape,
                                    uint32_t epoch)
{
    return l->batch > 0 ? goodput_divide(l->goodput, shape->replicas, l->batch)
                        : goodput_best(l->goodput, shape, epoch);
}

/* The rate on n packed units in each epoch; 0 where it does not run. */
static void tabulate(const struct learning *l, uint32_t n, double *rate)
{
    const struct goodput *g = l->goodput;
    struct shape shape = shape_packed(n, g->per_node);
    struct goodput_candidate c[GOODPUT_CANDIDATES];
    uint32_t candidates = l->batch > 0 ? 0 : goodput_candidates(g, &shape, c);
    for (uint32_t e = 0; e < g->epochs; e++)
        if (l->batch > 0)
            rate[e] = goodput_rate(g, &shape, e, learning_batch(l, &shape, e));
        else
            goodput_choose(g, e, c, candidates, &rate[e]);
}

bool learning_init(struct learning *l, const struct goodput *g, double batch, uint32_t most,
                   struct arena *a)
{
    struct speed *speeds = ARENA_ARRAY(a, g->epochs, struct speed);
    double *left = ARENA_ARRAY(a, g->epochs + 1, double);
    double *rates = ARENA_ARRAY(a, (size_t)most * g->epochs, double); /* by size, then by epoch */
    double *time = ARENA_ARRAY(a, most, double), *ratio = ARENA_ARRAY(a, most, double);
    *l = (struct learning){g, batch, speeds, rates, left};
    for (uint32_t n = 1; n <= most; n++)
        tabulate(l, n, &rates[(size_t)(n - 1) * g->epochs]);
    for (uint32_t e = g->epochs; e-- > 0;) {
        if (!(rates[e] > 0))
            return false;
        for (uint32_t n = 0; n < most; n++) {
            time[n] += (g->progress[e + 1] - g->progress[e]) / rates[(size_t)n * g->epochs + e];
            ratio[n] = time[0] / time[n]; /* 0 where it does not run */
        }
        left[e] = time[0];
        speeds[e] = speed_table(a, ratio, most);
    }
    return true;
}

double learning_left(const struct learning *l, uint32_t epoch, double progress)
{
    const struct goodput *g = l->goodput;
    if (epoch >= g->epochs)
        return 0;
    double left = g->progress[epoch + 1] - progress;
    return l->left[epoch + 1] + (left > 0 ? left / l->rate[epoch] : 0);
}
