/* Owns the arithmetic of growth efficiency, for all four resources of the thesis.
 *
 *   P(t_i) = |E(t_i) - E(t_{i-1})| / (t_i - t_{i-1}),   G = P / R
 *
 * E is the metric divided by its first value; R is the mean share of the node that was used in the
 * interval: of its CPUs, of its memory, or of the bandwidth of its disk or network. */
#include "model/growth.h"

#include <math.h>

double growth_amount(const struct sample *s, enum growth_resource resource)
{
    switch (resource) {
    case GROWTH_CPU:
        return s->cpu_time;
    case GROWTH_MEMORY:
        return s->memory_mb;
    case GROWTH_BLOCK:
        return s->block_bytes;
    case GROWTH_NETWORK:
        return s->net_bytes;
    case GROWTH_RESOURCES:
        break;
    }
    return NAN;
}

double growth_used(enum growth_resource resource, double was, double now, double seconds,
                   const struct node *n, double bandwidth)
{
    switch (resource) {
    case GROWTH_CPU:
        return (now - was) / (double)USEC_PER_SEC / ((double)n->cpus / UNIT);
    case GROWTH_MEMORY:
        return n->memory_mb ? seconds * (now + was) / 2 / (double)n->memory_mb : NAN;
    case GROWTH_BLOCK:
    case GROWTH_NETWORK:
        return (now - was) / bandwidth;
    case GROWTH_RESOURCES:
        break;
    }
    return NAN;
}

static double moved(const struct history *h)
{
    double first = h->first.metric != 0 ? fabs(h->first.metric) : 1;
    return fabs(h->last.metric - h->mark.metric) / first;
}

bool growth_take(struct history *h, const struct node *n, double bandwidth)
{
    const struct sample *from = &h->mark, *to = &h->last;
    usec_t span = to->metric_at - from->metric_at;
    if (isnan(from->metric) || isnan(to->metric) || span <= 0)
        return false;
    struct growth_point point = {.span = span};
    for (enum growth_resource r = 0; r < GROWTH_RESOURCES; r++) {
        double used = growth_used(r, growth_amount(from, r), growth_amount(to, r),
                                  (double)span / (double)USEC_PER_SEC, n, bandwidth);
        point.by[r] = used > 0 ? moved(h) / used : NAN;
    }
    bool same_run = !(to->cpu_time < from->cpu_time);
    if (same_run)
        h->growth = point;
    h->mark = *to;
    return same_run;
}
