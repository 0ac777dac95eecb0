/* Owns what is left of a job with goodput. Times are summed from the last epoch backwards. */
#include "model/learning.h"

struct goodput_batch learning_batch(const struct learning *l, const struct shape *shape,
                                    uint32_t epoch)
{
    return l->batch > 0 ? goodput_divide(l->goodput, shape->replicas, l->batch)
                        : goodput_best(l->goodput, shape, epoch);
}

bool learning_init(struct learning *l, const struct goodput *g, double batch, uint32_t most,
                   struct arena *a)
{
    struct speed *speeds = ARENA_ARRAY(a, g->epochs, struct speed);
    double *rate = ARENA_ARRAY(a, g->epochs, double), *left = ARENA_ARRAY(a, g->epochs + 1, double);
    double *time = ARENA_ARRAY(a, most, double), *ratio = ARENA_ARRAY(a, most, double);
    *l = (struct learning){g, batch, speeds, rate, left};
    for (uint32_t e = g->epochs; e-- > 0;) {
        double progress = g->progress[e + 1] - g->progress[e];
        for (uint32_t n = 1; n <= most; n++) {
            struct shape shape = shape_packed(n, g->per_node);
            double r = goodput_rate(g, &shape, e, learning_batch(l, &shape, e));
            if (n == 1)
                rate[e] = r;
            time[n - 1] += progress / r; /* infinite where it does not run */
            ratio[n - 1] = time[0] / time[n - 1];
        }
        left[e] = time[0];
        if (!(rate[e] > 0))
            return false;
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
