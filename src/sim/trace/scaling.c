/* Owns the arithmetic between rates (steps a second) and speed curves. */
#include "sim/trace/scaling.h"

#include <math.h>

static bool runs_on(const struct rates *r, uint32_t k)
{
    return k <= r->n && isfinite(r->at[k - 1]) && r->at[k - 1] > 0;
}

/* Smallest size that runs; 0 = none. */
static uint32_t smallest(const struct rates *r)
{
    for (uint32_t k = 1; k <= r->n; k++)
        if (runs_on(r, k))
            return k;
    return 0;
}

static struct speed to_speed(struct arena *a, const struct rates *r, double unit_rate)
{
    double *speeds = ARENA_ARRAY(a, r->n, double);
    for (uint32_t k = 1; k <= r->n; k++)
        speeds[k - 1] = runs_on(r, k) ? r->at[k - 1] / unit_rate : 0;
    return speed_table(a, speeds, r->n);
}

static uint32_t larger(uint32_t a, units_t b)
{
    return b / UNIT > a ? (uint32_t)(b / UNIT) : a;
}

/* Smallest size that every pool with rates runs. */
static uint32_t smallest_common(const struct rates *rates, unsigned n)
{
    for (uint32_t k = 1; k <= RATES_MAX; k++) {
        bool all = true;
        for (unsigned i = 0; i < n; i++)
            all = all && (!smallest(&rates[i]) || runs_on(&rates[i], k));
        if (all)
            return k;
    }
    return 0;
}

int scaling_init(struct scaling *s, struct arena *a, const struct rates *rates, unsigned n)
{
    unsigned first = n, able = 0;
    for (unsigned i = n; i-- > 0;)
        if (smallest(&rates[i])) {
            first = i;
            able++;
        }
    uint32_t min = smallest_common(rates, n);
    if (able == 0 || min == 0)
        return -1;
    uint32_t k = smallest(&rates[first]);
    *s = (struct scaling){.unit_rate = rates[first].at[k - 1] / k, .min = min};
    bool single = able == 1;
    struct speed *speeds = ARENA_ARRAY(a, single ? 1 : POOL_GPU + n, struct speed);
    for (unsigned i = 0; i < n; i++) {
        bool runs = smallest(&rates[i]) > 0;
        struct speed *to = &speeds[single ? 0 : POOL_GPU + i];
        if (!runs && !single)
            *to = speed_none();
        if (!runs)
            continue;
        *to = to_speed(a, &rates[i], s->unit_rate);
        s->best = larger(s->best, speed_best(to, (units_t)to->len * UNIT));
        s->last = larger(s->last, speed_floor(to, (units_t)to->len * UNIT));
    }
    s->best = s->best < min ? min : s->best;
    s->speeds = speeds;
    s->nspeeds = (uint8_t)(single ? 1 : POOL_GPU + n);
    s->pool = (uint8_t)(single && n > 1 ? POOL_GPU + first : POOL_ANY_GPU);
    return 0;
}

uint32_t scaling_floor(const struct scaling *s, uint32_t n)
{
    const struct speed *first = &s->speeds[s->nspeeds == 1 ? 0 : POOL_GPU];
    while (!speed_runs(first)) /* some type runs it */
        first++;
    return (uint32_t)(speed_floor(first, (units_t)n * UNIT) / UNIT);
}

void scaling_apply(const struct scaling *s, double steps, struct job *j)
{
    j->speeds = s->speeds;
    j->nspeeds = s->nspeeds;
    j->pool = s->pool;
    j->work = steps / s->unit_rate * (double)USEC_PER_SEC;
}
