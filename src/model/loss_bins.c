/* Owns the reduction of a history to bins. A job that went back to a checkpoint
 * reports some steps twice, so samples are put in the order of their steps. */
#include "model/loss_bins.h"

#include <math.h>
#include <stdbool.h>

#include "model/median.h"

enum { SAMPLES = HISTORY_CAP + 1, PER_BIN = SAMPLES / LOSS_BINS + 1 };

static const double step_limit = 1e15, metric_limit = 1e100;

struct point {
    double step, metric;
};

static void insert_point(struct point *points, uint32_t n, const struct sample *s)
{
    for (; n > 0 && points[n - 1].step > s->step; n--)
        points[n] = points[n - 1];
    points[n] = (struct point){s->step, s->metric};
}

static bool is_usable(const struct sample *s)
{
    return s->step >= 0 && s->step <= step_limit && fabs(s->metric) <= metric_limit;
}

static uint32_t collect_points(const struct history *h, struct point *points)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < h->n; i++)
        if (is_usable(&h->at[i]))
            insert_point(points, n++, &h->at[i]);
    /* If the newest sample was kept, it is the last one. */
    if (h->n && h->skipped && is_usable(&h->last))
        insert_point(points, n++, &h->last);
    return n;
}

static void fill_bin(struct loss_bins *b, uint32_t i, const struct point *points, uint32_t n)
{
    double sorted[PER_BIN] = {0};
    for (uint32_t k = 0; k < n; k++) {
        median_insert(sorted, k, points[k].metric);
        b->step[i] += points[k].step / n;
    }
    b->metric[i] = median_of(sorted, n);
    b->count[i] = n;
}

void loss_bins_collect(const struct history *h, struct loss_bins *b)
{
    struct point points[SAMPLES];
    uint32_t n = collect_points(h, points);
    *b = (struct loss_bins){.n = n < LOSS_BINS ? n : LOSS_BINS};
    if (n == 0)
        return;
    b->from = points[0].step;
    b->to = points[n - 1].step;
    b->distinct = 1;
    for (uint32_t i = 1; i < n; i++)
        b->distinct += points[i].step > points[i - 1].step;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t first = i * n / b->n;
        fill_bin(b, i, points + first, (i + 1) * n / b->n - first);
    }
}

void loss_bins_negate(struct loss_bins *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->metric[i] = -b->metric[i];
}

double loss_bins_gain(const struct loss_bins *b)
{
    double gain = 0;
    uint32_t third = (b->n + 2) / 3;
    for (uint32_t i = 0; i < third; i++)
        gain += (b->metric[b->n - 1 - i] - b->metric[i]) / third;
    return gain;
}

double loss_bins_range(const struct loss_bins *b)
{
    double low = INFINITY, high = -INFINITY;
    for (uint32_t i = 0; i < b->n; i++) {
        low = fmin(low, b->metric[i]);
        high = fmax(high, b->metric[i]);
    }
    return b->n ? high - low : 0;
}
