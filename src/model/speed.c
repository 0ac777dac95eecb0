/* Owns speed curves. Invariant of a table: for a size that is not admissible, at[] has the
 * speed of the next lower admissible one (0 if there is none), so a look-up needs no
 * search. */
#include "model/speed.h"

#include <math.h>

static bool is_concave(const struct speed *s)
{
    double gain = INFINITY;
    for (uint32_t k = 0, next; (next = s->next[k]) != 0; k = next) {
        double g = (s->at[next] - s->at[k]) / (next - k);
        if (g > gain * (1 + 1e-12))
            return false;
        gain = g;
    }
    return true;
}

struct speed speed_table(struct arena *a, const double *speeds, uint32_t n)
{
    double *at = ARENA_ARRAY(a, n + 1, double);
    uint32_t *next = ARENA_ARRAY(a, n + 1, uint32_t);
    uint32_t above = 0;
    for (uint32_t k = n; k-- > 0;) {
        if (isfinite(speeds[k]) && speeds[k] > 0)
            above = k + 1;
        next[k] = above;
    }
    for (uint32_t k = 1; k <= n; k++)
        at[k] = next[k - 1] == k ? speeds[k - 1] : at[k - 1];
    struct speed s = {at, next, n, false};
    s.concave = is_concave(&s);
    return s;
}

struct speed speed_none(void)
{
    static const double at[] = {0};
    static const uint32_t next[] = {0};
    return (struct speed){at, next, 0, true};
}

struct speed speed_fitted(struct arena *a, double fixed, double parallel, double comm, uint32_t n)
{
    double *speeds = ARENA_ARRAY(a, n, double);
    double one = fixed + parallel;
    for (uint32_t k = 1; k <= n; k++)
        speeds[k - 1] = one / (fixed + parallel / k + comm * (k - 1));
    return speed_table(a, speeds, n);
}

struct speed speed_prior(struct arena *a, uint32_t n)
{
    double *speeds = ARENA_ARRAY(a, n, double);
    for (uint32_t k = 1; k <= n; k++)
        speeds[k - 1] = k / (1 + 0.05 * (k - 1));
    return speed_table(a, speeds, n);
}

double speed_at(const struct speed *s, units_t n)
{
    if (n <= 0)
        return 0;
    if (!s->at)
        return (double)n / (double)UNIT;
    units_t whole = n / UNIT, part = n % UNIT;
    if (whole >= s->len)
        return s->at[s->len];
    double low = s->at[whole];
    if (part == 0 || s->next[whole] != whole + 1)
        return low;
    return low + (s->at[whole + 1] - low) * (double)part / (double)UNIT;
}

double speed_at_share(const struct speed *s, double n)
{
    if (!(n > 0))
        return 0;
    if (!s->at)
        return n / (double)UNIT;
    double low = floor(n), a = speed_at(s, (units_t)low);
    return a + (speed_at(s, (units_t)low + 1) - a) * (n - low);
}

units_t speed_next(const struct speed *s, units_t n, units_t max)
{
    units_t whole = n / UNIT, next;
    if (!s->at) {
        next = (whole + 1) * UNIT < max ? (whole + 1) * UNIT : max;
    } else if (whole >= s->len) {
        return 0;
    } else {
        next = s->next[whole] * UNIT;
        if (next > max && max % UNIT && max / UNIT >= whole)
            next = max; /* the maximum has a fraction of a CPU */
    }
    return next > n && next <= max ? next : 0;
}

units_t speed_floor(const struct speed *s, units_t n)
{
    if (!s->at)
        return n;
    units_t whole = n / UNIT < s->len ? n / UNIT : s->len;
    while (whole > 0 && s->next[whole - 1] != whole)
        whole--;
    /* Fractions are admissible where the curve is interpolated, and after its end. */
    bool fraction =
        n % UNIT && whole == n / UNIT && (whole == s->len || s->next[whole] == whole + 1);
    return fraction ? n : whole * UNIT;
}

units_t speed_best(const struct speed *s, units_t max)
{
    units_t best = 0, n = 0;
    double top = 0;
    if (!s->at)
        return max;
    while ((n = speed_next(s, n, max)) != 0) {
        double speed = speed_at(s, n);
        if (speed > top) {
            top = speed;
            best = n;
        }
    }
    return best;
}
