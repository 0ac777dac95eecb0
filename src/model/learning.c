/* Owns what is left of a job with goodput. Times are summed from the last epoch backwards. */
#include "model/learning.h"

#include <string.h>

enum { FIRST_TYPE = 1 }; /* its curve in learning.speeds; the first entry is that of CPUs */

struct goodput_batch learning_batch(const struct learning *l, uint32_t type,
                                    const struct shape *shape, uint32_t epoch)
{
    const struct goodput *g = &l->goodput[type];
    return l->batch > 0 ? goodput_divide(g, shape, l->batch) : goodput_best(g, shape, epoch);
}

/* The rate on n packed units in each epoch; 0 where it does not run. */
static void tabulate(const struct learning *l, uint32_t type, uint32_t n, double *rate)
{
    const struct goodput *g = &l->goodput[type];
    struct shape shape = shape_packed(n, g->per_node);
    struct goodput_candidate c[GOODPUT_CANDIDATES];
    uint32_t candidates = l->batch > 0 ? 0 : goodput_candidates(g, &shape, c);
    for (uint32_t e = 0; e < g->epochs; e++)
        if (n > g->largest)
            rate[e] = 0;
        else if (l->batch > 0)
            rate[e] = goodput_rate(g, &shape, e, learning_batch(l, type, &shape, e));
        else
            goodput_choose(g, e, c, candidates, &rate[e]);
}

/* Sets the curves of one type in all epochs. time[n] is scratch. */
static void add_curves(const struct learning *l, struct speed *speeds, uint32_t type,
                       const double *rates, uint32_t most, double *time, struct arena *a)
{
    const struct goodput *g = &l->goodput[type];
    double *ratio = ARENA_ARRAY(a, most, double);
    uint32_t at = l->nspeeds == 1 ? 0 : FIRST_TYPE + type;
    memset(time, 0, most * sizeof *time);
    for (uint32_t e = g->epochs; e-- > 0;) {
        bool any = false;
        for (uint32_t n = 0; n < most; n++) {
            time[n] += (g->progress[e + 1] - g->progress[e]) / rates[(size_t)n * g->epochs + e];
            ratio[n] = l->left[e] / time[n]; /* 0 where it does not run */
            any = any || ratio[n] > 0;
        }
        speeds[(size_t)e * l->nspeeds + at] = any ? speed_table(a, ratio, most) : speed_none();
    }
}

/* Sets what is left on one unit of the first type. */
static bool add_left(const struct goodput *g, const double *rate, double *left)
{
    left[g->epochs] = 0;
    for (uint32_t e = g->epochs; e-- > 0;) {
        if (!(rate[e] > 0))
            return false;
        left[e] = left[e + 1] + (g->progress[e + 1] - g->progress[e]) / rate[e];
    }
    return true;
}

bool learning_init(struct learning *l, const struct goodput *goodput, uint32_t types, double batch,
                   uint32_t most, struct arena *a)
{
    uint32_t epochs = goodput->epochs;
    uint8_t nspeeds = (uint8_t)(types == 1 ? 1 : FIRST_TYPE + types);
    struct speed *speeds = ARENA_ARRAY(a, (size_t)epochs * nspeeds, struct speed);
    double *left = ARENA_ARRAY(a, epochs + 1, double), *time = ARENA_ARRAY(a, most, double);
    double *first = ARENA_ARRAY(a, (size_t)most * epochs, double); /* by size, then by epoch */
    double *rates = types > 1 ? ARENA_ARRAY(a, (size_t)most * epochs, double) : NULL;
    *l = (struct learning){goodput, types, batch, speeds, nspeeds, first, left};
    for (uint32_t e = 0; types > 1 && e < epochs; e++)
        speeds[(size_t)e * nspeeds] = speed_none();
    for (uint32_t t = 0; t < types; t++) {
        double *to = t ? rates : first;
        for (uint32_t n = 1; n <= most; n++)
            tabulate(l, t, n, &to[(size_t)(n - 1) * epochs]);
        if (t == 0 && !add_left(goodput, first, left))
            return false;
        add_curves(l, speeds, t, to, most, time, a);
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
