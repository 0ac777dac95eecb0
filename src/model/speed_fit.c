/* Owns what is learnt about a job's speed.
 *
 * Record: for each size, the logarithms of step times in blocks of five. Of each
 * block only the median counts, so that a stalled step or a slow first one changes
 * nothing. The medians enter a mean that forgets with a half-life. A median far
 * from the mean enters at the bound of what is plausible, so that a short
 * disturbance has little weight. The third one in a row on the same side replaces
 * the mean: the job then runs in another place or with other neighbours.
 *
 * Fit: step(n) = fixed + parallel/n + comm (n-1), all three >= 0, by non-negative
 * least squares on relative errors, each size weighted by the precision of its
 * mean (old blocks have lost theirs) and re-weighted (Huber) where it does not
 * agree with the others. The prior is a penalty on the distance of the three from
 * any multiple of its shape: it says nothing about how long a step is. Inverting
 * the same information gives the band.
 *
 * Source: the three terms are those of Optimus (Peng et al., EuroSys'18, 3.2)
 * with workers alone; the rest is ours. */
#include "model/speed_fit.h"

#include <math.h>
#include <stddef.h>

#include "model/median.h"

/* Microseconds that a step may take: a nanosecond to 30,000 years. */
#define STEP_LEAST 1e-3
#define STEP_MOST 1e18

enum { COLUMNS = 3, ASTRAY_MAX = 3, HUBER_ROUNDS = 4 };

/* Relative deviations, as logarithms. */
static const double far_off = 0.5;    /* of a block from the mean, at least */
static const double spread_0 = 0.05;  /* of block medians, before anything is known */
static const double spread_trust = 1; /* how many observations spread_0 counts for */
static const double misfit = 0.01;    /* of true curves from the form */
static const double huber = 2;        /* standard deviations */

/* Blocks on a size before its steps are compared with their usual time. */
enum { WARM = 5 };
/* A step counts as at most this many usual ones. Before any was compared, they vary by a tenth, as
 * if five had been seen. About the last thousand count. What
 * comes may differ from them by the drift: neighbours come and go. */
static const double over_most = 1e4, over_kept = 1000, over_drift = 0.04, over_trust = 5,
                    over_spread = 0.1;
static const double forgotten = 0.5; /* blocks: a mean of fewer is replaced, not averaged */

/* What is assumed of a job about which nothing is known, S(k) = k/(1+0.05(k-1)), and how far
 * the shares of jobs are from it, or from those of their category. */
static const struct speed_shape unknown = {0.05, 0.95, 0};
static const struct speed_shape unknown_spread = {0.3, 0.3, 0.02};
static const struct speed_shape category_spread = {0.1, 0.1, 0.01};

/* A unit that brings less than this part of what the first one does is of no use: it is less than
 * can be measured, and somebody else can use it. */
static const double useless = 0.03;

void speed_seen_init(struct speed_seen *seen, usec_t half_life)
{
    *seen = (struct speed_seen){.half_life = half_life};
}

static struct speed_size *find_size(struct speed_seen *seen, uint32_t size)
{
    struct speed_size *oldest = &seen->at[0];
    for (size_t i = 0; i < SPEED_SIZES; i++) {
        struct speed_size *s = &seen->at[i];
        if (s->size == size)
            return s;
        if (oldest->size && (!s->size || s->last < oldest->last))
            oldest = s;
    }
    *oldest = (struct speed_size){.size = size, .last = INT64_MIN};
    return oldest;
}

static double fade(usec_t half_life, usec_t from, usec_t to)
{
    return half_life > 0 && to > from ? exp2(-((double)to - (double)from) / (double)half_life) : 1;
}

/* Adds a full block. */
static void add_block(struct speed_size *s)
{
    s->blocks += s->blocks < WARM;
    double value = median_of(s->block, SPEED_BLOCK), off = value - s->mean;
    double units = s->block_units / SPEED_BLOCK;
    /* For five normal numbers this has the variance of their median as its mean;
     * the largest and the smallest, which may be stalls, do not enter. */
    double inside = 0.213 * pow(s->block[3] - s->block[1], 2);
    double bound = s->weight > 0 ? fmax(far_off, 3 * sqrt(s->squares / s->weight)) : far_off;
    int8_t side = off > 0 ? 1 : -1;
    s->astray = fabs(off) <= bound ? 0 : s->side == side ? s->astray + 1 : 1;
    s->side = side;
    if (s->weight < forgotten || s->astray == ASTRAY_MAX) {
        s->mean = value;
        s->units = units;
        s->squares = 0;
        s->inside = inside;
        s->weight = 1;
        s->astray = 0;
        s->over.count = s->over.sum = s->over.squares = 0; /* they took another time there */
        return;
    }
    off = fmax(-bound, fmin(bound, off));
    s->weight += 1;
    s->mean += off / s->weight;
    s->units += (units - s->units) / s->weight;
    s->squares += off * off * (s->weight - 1) / s->weight;
    s->inside += inside;
}

/* Adds a step with all that it took: pauses and stalls too, which medians leave out. */
static void add_over(struct speed_size *s, double step)
{
    double kept = s->over.count < over_kept ? 1 : 1 - 1 / over_kept;
    step = fmin(step, over_most * exp(s->mean));
    s->over.count = s->over.count * kept + 1;
    s->over.sum = s->over.sum * kept + step;
    s->over.squares = s->over.squares * kept + step * step;
}

/* How many usual steps of its size a step has taken, over all sizes: the mean, and its relative
 * variance. The usual time is the one that is known now, so that what the mean was at first, when
 * slow first steps were in it, does not count. Returns the number of steps. */
static double mean_over(const struct speed_seen *seen, double *mean, double *variance)
{
    double n = over_trust, sum = over_trust, squares = over_trust * (1 + over_spread * over_spread);
    for (size_t i = 0; i < SPEED_SIZES; i++) {
        const struct speed_size *s = &seen->at[i];
        if (!s->size || !(s->over.count > 0))
            continue;
        double usual = exp(s->mean);
        n += s->over.count;
        sum += s->over.sum / usual;
        squares += s->over.squares / usual / usual;
    }
    *mean = sum / n;
    *variance = fmax(squares / n / (*mean * *mean) - 1, 0);
    return n;
}

struct range speed_seen_rest(const struct speed_seen *seen, const struct range *step, double steps)
{
    double mean, spread, n = mean_over(seen, &mean, &spread);
    /* What was seen is a sample, and so is what comes. */
    double off = RANGE_Z * sqrt(spread / n + spread / fmax(steps, 1) + over_drift * over_drift);
    double mid = steps * step->mid * mean;
    if (!(mid > 0) || isinf(mid))
        return (struct range){steps * step->low, mid, steps * step->high};
    double below = hypot(log(step->mid / step->low), off);
    double above = hypot(log(step->high / step->mid), off);
    return (struct range){mid / exp(below), mid, mid * exp(above)};
}

void speed_seen_add(struct speed_seen *seen, usec_t at, units_t units, double step)
{
    if (units <= 0 || units / UNIT >= UINT32_MAX || !(step >= STEP_LEAST && step <= STEP_MOST))
        return;
    /* Below one unit speed is proportional: what it would be on a whole one. */
    if (units < UNIT) {
        step *= (double)units / (double)UNIT;
        units = UNIT;
    }
    struct speed_size *s = find_size(seen, (uint32_t)((units + UNIT / 2) / UNIT));
    double kept = fade(seen->half_life, s->last, at);
    s->weight *= kept;
    s->squares *= kept;
    s->inside *= kept;
    s->last = at > s->last ? at : s->last;
    if (s->blocks >= WARM) /* before that, the usual time itself is not known well */
        add_over(s, step);
    median_insert(s->block, s->pending++, log(step));
    s->block_units += (double)units / (double)UNIT;
    if (s->pending < SPEED_BLOCK)
        return;
    add_block(s);
    s->pending = 0;
    s->block_units = 0;
}

/* One size as the fit sees it. */
struct point {
    double units, step, variance; /* variance of the relative error of step */
    double trust;                 /* 1; less where it does not agree */
};

/* The variance of block medians over all sizes, from their own spread and from the spread
 * inside blocks. */
static double pooled_variance(const struct speed_seen *seen)
{
    double squares = spread_trust * spread_0 * spread_0, weight = spread_trust;
    for (size_t i = 0; i < SPEED_SIZES; i++) {
        const struct speed_size *s = &seen->at[i];
        squares += s->squares + s->inside;
        weight += s->weight + fmax(s->weight - 1, 0);
    }
    return squares / weight;
}

bool speed_seen_step(const struct speed_seen *seen, usec_t now, units_t n, struct range *out)
{
    uint32_t size = n < UNIT ? 1 : (uint32_t)((n + UNIT / 2) / UNIT);
    const struct speed_size *s = seen->at;
    while (s < seen->at + SPEED_SIZES && s->size != size)
        s++;
    if (s == seen->at + SPEED_SIZES || s->weight < 1)
        return false;
    double weight = fmax(s->weight * fade(seen->half_life, s->last, now), 1e-6);
    double off = RANGE_Z * sqrt(pooled_variance(seen) / weight + misfit * misfit);
    double mid = exp(s->mean) * s->units * (double)UNIT / (double)n;
    out->low = mid / exp(off);
    out->mid = mid;
    out->high = mid * exp(off);
    return true;
}

static uint32_t collect_points(const struct speed_seen *seen, usec_t now, struct point *points)
{
    uint32_t n = 0;
    double variance = pooled_variance(seen);
    for (size_t i = 0; i < SPEED_SIZES; i++) {
        const struct speed_size *s = &seen->at[i];
        if (!s->size)
            continue;
        bool full = s->weight > 0;
        double weight = full ? s->weight : (double)s->pending / SPEED_BLOCK;
        weight = fmax(weight * fade(seen->half_life, s->last, now), 1e-6);
        points[n++] = (struct point){
            .units = full ? s->units : s->block_units / s->pending,
            .step = exp(full ? s->mean : median_of(s->block, s->pending)),
            .variance = variance / weight + misfit * misfit,
            .trust = 1,
        };
    }
    return n;
}

static void fill_row(double units, double *row)
{
    row[0] = 1;
    row[1] = 1 / units;
    row[2] = units - 1;
}

static double shape_at(const struct speed_shape *s, double units)
{
    return s->fixed + s->parallel / units + s->comm * (units - 1);
}

static bool is_shape(const struct speed_shape *s)
{
    if (!s)
        return false;
    double one = s->fixed + s->parallel;
    return one > 0 && isfinite(one) && s->fixed >= 0 && s->parallel >= 0 && s->comm >= 0 &&
           s->comm <= 1e6 * one;
}

/* The microseconds of a step on one unit if the shape is right: the mean of logarithms over
 * the points. */
static double fit_scale(const struct point *points, uint32_t n, const struct speed_shape *shape)
{
    double sum = 0, weight = 0;
    for (uint32_t i = 0; i < n; i++) {
        sum += log(points[i].step / shape_at(shape, points[i].units)) / points[i].variance;
        weight += 1 / points[i].variance;
    }
    return exp(sum / weight);
}

static double best_known(const struct point *points, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        if (points[i].variance < points[best].variance)
            best = i;
    return points[best].units;
}

/* Adds the squares of (x - g shape) / spread, for the g that minimises them. */
static void add_prior(struct nnls *p, const struct speed_shape *shape,
                      const struct speed_shape *spread)
{
    double s[COLUMNS] = {shape->fixed, shape->parallel, shape->comm}, norm = 0;
    double w[COLUMNS] = {pow(spread->fixed, -2), pow(spread->parallel, -2), pow(spread->comm, -2)};
    for (int i = 0; i < COLUMNS; i++)
        norm += s[i] * s[i] * w[i];
    for (int i = 0; i < COLUMNS; i++) {
        p->gram[i][i] += w[i];
        for (int j = 0; j < COLUMNS; j++)
            p->gram[i][j] -= w[i] * s[i] * s[j] * w[j] / norm;
    }
}

/* Lowers the weight of points that are far from the curve x. */
static void weigh_points(struct point *points, uint32_t n, double scale, const double *x)
{
    for (uint32_t i = 0; i < n; i++) {
        double row[COLUMNS], step = 0;
        fill_row(points[i].units, row);
        for (int j = 0; j < COLUMNS; j++)
            step += row[j] * x[j] * scale;
        double off = fabs(step / points[i].step - 1) / sqrt(points[i].variance);
        points[i].trust = off > huber ? huber / off : 1;
    }
}

/* A job that only slows down as it grows can come out as comm (n-1) alone, which would take
 * no time on one unit. At least a hundredth of the shortest step seen is kept. */
static void keep_one_unit(const struct point *points, uint32_t n, double scale, double *x)
{
    double least = INFINITY;
    for (uint32_t i = 0; i < n; i++)
        least = fmin(least, points[i].step / scale / 100);
    if (x[0] + x[1] < least)
        x[0] = least - x[1];
}

void speed_fit(const struct speed_seen *seen, usec_t now, const struct speed_shape *prior,
               struct speed_fit *fit)
{
    struct point points[SPEED_SIZES];
    uint32_t n = collect_points(seen, now, points);
    bool category = is_shape(prior);
    struct speed_shape shape = category ? *prior : unknown;
    double one = shape.fixed + shape.parallel, x[COLUMNS], row[COLUMNS];
    shape = (struct speed_shape){shape.fixed / one, shape.parallel / one, shape.comm / one};
    *fit = (struct speed_fit){.step = shape, .sizes = n, .scale = 1, .category = category};
    if (n == 0)
        return;
    fit->scale = fit_scale(points, n, &shape);
    fit->known = best_known(points, n);
    for (int round = 0; round < HUBER_ROUNDS; round++) {
        nnls_init(&fit->information, COLUMNS);
        add_prior(&fit->information, &shape, category ? &category_spread : &unknown_spread);
        for (uint32_t i = 0; i < n; i++) {
            double size = points[i].step / fit->scale;
            fill_row(points[i].units, row);
            nnls_add(&fit->information, row, size,
                     points[i].trust / (points[i].variance * size * size));
        }
        nnls_solve(&fit->information, x);
        weigh_points(points, n, fit->scale, x);
    }
    keep_one_unit(points, n, fit->scale, x);
    fit->step = (struct speed_shape){x[0] * fit->scale, x[1] * fit->scale, x[2] * fit->scale};
}

uint32_t speed_fit_peak(const struct speed_fit *fit, uint32_t most)
{
    double one = shape_at(&fit->step, 1);
    uint32_t k = 1;
    while (k < most && one / shape_at(&fit->step, k + 1) > one / shape_at(&fit->step, k) + useless)
        k++;
    return k;
}

struct speed speed_fit_curve(const struct speed_fit *fit, struct arena *a, uint32_t least,
                             uint32_t most)
{
    uint32_t peak = speed_fit_peak(fit, most);
    return speed_fitted(a, fit->step.fixed, fit->step.parallel, fit->step.comm,
                        peak > least ? peak : least);
}

/* The band by the covariance alone. Upwards it is that of a normal distribution;
 * downwards its mirror image in the rate, which does not reach 0. */
static struct range free_band(const struct speed_fit *fit, double units)
{
    double row[COLUMNS], mid = shape_at(&fit->step, units);
    fill_row(units, row);
    double off = RANGE_Z * sqrt(nnls_variance(&fit->information, row)) * fit->scale / mid;
    return (struct range){mid / (1 + off), mid, mid * (1 + off)};
}

struct range speed_fit_step(const struct speed_fit *fit, units_t n)
{
    if (fit->sizes == 0)
        return (struct range){0, INFINITY, INFINITY};
    double units = fmax((double)n / (double)UNIT, 1), part = (double)n / (double)UNIT / units;
    struct range r = free_band(fit, units), known = free_band(fit, fit->known);
    /* No job speeds up better than linearly: n step(n) never falls with n. */
    double linear = fit->known / units;
    if (units > fit->known)
        r.low = fmax(r.low, known.low * linear);
    else if (units < fit->known)
        r.high = fmin(r.high, known.high * linear);
    return (struct range){r.low / part, r.mid / part, r.high / part};
}
