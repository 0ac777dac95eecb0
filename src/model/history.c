/* Owns the thinned history of samples. When the array is full, every second sample is
 * dropped, and from then on only every stride-th one is kept; `last` always has the newest. */
#include "model/history.h"

#include <math.h>
#include <stddef.h>

void history_init(struct history *h)
{
    *h = (struct history){.stride = 1};
    h->first.metric = h->last.metric = h->mark.metric = NAN;
    h->last.at = INT64_MIN;
}

void history_add(struct history *h, const struct sample *s)
{
    if (s->at < h->last.at)
        return;
    h->last = *s;
    if (!s->metric_at)
        h->last.metric_at = s->at;
    if (isnan(h->first.metric))
        h->first = h->last;
    if (++h->skipped < h->stride && h->n)
        return;
    h->skipped = 0;
    if (h->n == HISTORY_CAP) {
        for (uint32_t i = 0; i < HISTORY_CAP / 2; i++)
            h->at[i] = h->at[2 * i];
        h->n = HISTORY_CAP / 2;
        h->stride *= 2;
    }
    h->at[h->n++] = *s;
}

const struct sample *history_before(const struct history *h, usec_t at)
{
    if (h->n && h->last.at <= at)
        return &h->last;
    for (uint32_t i = h->n; i-- > 0;)
        if (h->at[i].at <= at)
            return &h->at[i];
    return NULL;
}

double history_cpus(const struct history *h, usec_t window)
{
    const struct sample *from = h->n ? history_before(h, h->last.at - window) : NULL;
    if (!from && h->n)
        from = &h->at[0];
    if (!from || from->at >= h->last.at)
        return NAN;
    double used = h->last.cpu_time - from->cpu_time;
    return used >= 0 ? used / (double)(h->last.at - from->at) : NAN;
}
