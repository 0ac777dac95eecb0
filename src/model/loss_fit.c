/* Owns the extrapolation of a job's metric.
 *
 * Three forms are tried: 1/(b0 s + b1) + b2 of Optimus (Peng et al., EuroSys'18,
 * 3.1), a power law a (s+1)^-b + c, and a decay a exp(-b s) + c. All are linear
 * except in one parameter, theta, so each is fitted by a search over theta with
 * weighted least squares for the rest: nothing diverges, and no start value is
 * needed. Bins that do not agree with the best fit get less weight.
 *
 * Deviation: Optimus takes the best fit alone. An early curve can be continued in
 * several ways that fit equally well, so all candidates are kept here with the
 * probability that each is right (flat in log theta; normal noise of unknown
 * size, integrated out). Given one candidate, the metric at a step is a linear
 * function of level and drop, hence Student-distributed. The answers are
 * quantiles of the mixture, and the best fit dominates as soon as the data
 * distinguish the candidates. Optimus' b2 >= 0 is dropped: it would exclude losses
 * below 0, and with noise around a limit of 0 it makes predictions late. */
#include "model/loss_fit.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "model/loss_bins.h"
#include "model/median.h"

enum { ROUNDS = 3, ZOOMS = 3, BISECTIONS = 40 };

static const double misfit =
    0.002; /* deviation of true curves from a form, as a share of their drop */
static const double bound_at = 2;   /* standard deviations beyond which a bin counts less */
static const double zoom_below = 8; /* logarithm: how far below the best a weight may be */
static const double freedom_least = 3;
static const double weight_least = 1e-6; /* a smaller one changes no quantile */

/* The data of a fit. */
struct data {
    struct loss_bins bins;
    double weight[LOSS_BINS]; /* samples of each bin; less where it does not agree */
    double allowance;         /* sum of squares that misfit explains */
    double freedom;
};

static double form_at(const struct loss_shape *c, double step)
{
    switch (c->kind) {
    case LOSS_INVERSE:
        return c->theta / (step + c->theta);
    case LOSS_POWER:
        return pow(step + 1, -c->theta);
    default:
        return exp(-c->theta * step);
    }
}

static double scaled_at(const struct loss_shape *c, double step)
{
    return (form_at(c, step) - c->last) / (c->first - c->last);
}

/* Weighted least squares for level and drop, given kind and theta; variances are for noise
 * of 1. Returns the residual sum of squares; infinite if the form has the same value at all
 * steps. */
static double fit_shape(const struct data *d, struct loss_shape *c)
{
    const struct loss_bins *b = &d->bins;
    double v[LOSS_BINS], w = 0, wv = 0, wvv = 0, we = 0, wve = 0, left = 0;
    c->first = form_at(c, b->from);
    c->last = form_at(c, b->to);
    if (!(c->first - c->last > 1e-12 * c->first))
        return INFINITY;
    for (uint32_t i = 0; i < b->n; i++) {
        v[i] = scaled_at(c, b->step[i]);
        w += d->weight[i];
        wv += d->weight[i] * v[i];
        wvv += d->weight[i] * v[i] * v[i];
        we += d->weight[i] * b->metric[i];
        wve += d->weight[i] * b->metric[i] * v[i];
    }
    double det = w * wvv - wv * wv;
    if (!(det > 1e-12 * w * wvv))
        return INFINITY;
    c->level = (we * wvv - wve * wv) / det;
    c->drop = (wve * w - we * wv) / det;
    c->level_variance = wvv / det;
    c->drop_variance = w / det;
    c->covariance = -wv / det;
    if (c->drop < 0) { /* in the wrong direction: it does not approach the goal */
        c->level = we / w;
        c->level_variance = 1 / w;
        c->drop = c->drop_variance = c->covariance = 0;
    }
    for (uint32_t i = 0; i < b->n; i++)
        left += d->weight[i] * pow(b->metric[i] - c->level - c->drop * v[i], 2);
    return left;
}

/* One form, and the range of its theta. */
struct search {
    enum loss_kind kind;
    double low, high; /* logarithms of theta */
    double left[LOSS_GRID];
    double log_weight[LOSS_GRID];
};

/* Fits the form in the middle of each cell of its range; returns the width of a cell. */
static double try_cells(const struct data *d, struct search *s, struct loss_shape *shapes)
{
    double cell = (s->high - s->low) / LOSS_GRID;
    for (int i = 0; i < LOSS_GRID; i++) {
        shapes[i] = (struct loss_shape){.kind = s->kind, .theta = exp(s->low + (i + 0.5) * cell)};
        s->left[i] = fit_shape(d, &shapes[i]);
        s->log_weight[i] = -d->freedom / 2 * log(s->left[i] + d->allowance);
    }
    return cell;
}

/* Narrows the range to where the weight is; false if it cannot be narrowed. */
static bool zoom_in(struct search *s, double cell)
{
    double best = -INFINITY, low = s->low, high = s->high;
    int first = LOSS_GRID, last = -1;
    for (int i = 0; i < LOSS_GRID; i++)
        best = fmax(best, s->log_weight[i]);
    for (int i = 0; i < LOSS_GRID; i++)
        if (s->log_weight[i] > best - zoom_below) {
            first = i < first ? i : first;
            last = i;
        }
    if (last < 0 || last - first + 3 > LOSS_GRID * 2 / 3)
        return false;
    s->low = fmax(low, low + (first - 1) * cell);
    s->high = fmin(high, low + (last + 2) * cell);
    return true;
}

static void fit_form(const struct data *d, struct search *s, struct loss_shape *shapes)
{
    double all = s->high - s->low, cell = try_cells(d, s, shapes);
    for (int i = 0; i < ZOOMS && zoom_in(s, cell); i++)
        cell = try_cells(d, s, shapes);
    for (int i = 0; i < LOSS_GRID; i++)
        s->log_weight[i] += log(cell / all);
}

/* Turns the residuals of the searches into weights and variances. */
static void weigh_shapes(const struct data *d, const struct search *searches,
                         struct loss_shape *shapes)
{
    double best = -INFINITY, sum = 0;
    for (int i = 0; i < LOSS_SHAPES; i++)
        best = fmax(best, searches[i / LOSS_GRID].log_weight[i % LOSS_GRID]);
    for (int i = 0; i < LOSS_SHAPES; i++) {
        const struct search *s = &searches[i / LOSS_GRID];
        struct loss_shape *c = &shapes[i];
        double noise = (s->left[i % LOSS_GRID] + d->allowance) / d->freedom;
        c->weight = exp(s->log_weight[i % LOSS_GRID] - best);
        c->level_variance *= noise;
        c->drop_variance *= noise;
        c->covariance *= noise;
        sum += c->weight;
    }
    for (int i = 0; i < LOSS_SHAPES; i++)
        shapes[i].weight /= sum;
}

/* Lowers the weight of bins that are far off, given how far each is. */
static void weigh_bins(struct data *d, const double *off)
{
    double sorted[LOSS_BINS] = {0};
    for (uint32_t i = 0; i < d->bins.n; i++)
        median_insert(sorted, i, off[i]);
    /* 1.4826 median deviations are one standard deviation of normal noise. */
    double spread = 1.4826 * median_of(sorted, d->bins.n);
    double bound = bound_at * fmax(spread, sqrt(d->allowance / d->bins.n));
    for (uint32_t i = 0; i < d->bins.n; i++)
        d->weight[i] = d->bins.count[i] * (off[i] > bound ? pow(bound / off[i], 2) : 1);
}

/* Without a fit yet: how far from the median of the five bins around. */
static void weigh_by_neighbours(struct data *d)
{
    const struct loss_bins *b = &d->bins;
    double off[LOSS_BINS];
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t first = i < 2 ? 0 : i + 3 > b->n ? b->n - 5 : i - 2;
        double sorted[5] = {0};
        for (uint32_t k = 0; k < 5; k++)
            median_insert(sorted, k, b->metric[first + k]);
        off[i] = fabs(b->metric[i] - sorted[2]) * sqrt(b->count[i]);
    }
    weigh_bins(d, off);
}

/* How similar neighbouring deviations are, 0 to 1; those that misfit explains do not
 * count. */
static double likeness(const struct data *d, const double *off)
{
    double products = 0, squares = d->allowance, last = 0;
    for (uint32_t i = 0; i < d->bins.n; i++) {
        double now = off[i] * sqrt(d->weight[i] / d->bins.count[i]);
        products += now * last;
        squares += now * now;
        last = now;
    }
    return fmax(products, 0) / squares;
}

/* Evaluates the best fit: which bins do not agree with it, what misfit explains, and how
 * many independent bins there are. Deviations that come in runs mean that the curve does
 * not have this form, and that bins repeat each other. */
static void weigh_by_fit(struct data *d, const struct loss_shape *best)
{
    const struct loss_bins *b = &d->bins;
    double off[LOSS_BINS], count = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        double e = best->level + best->drop * scaled_at(best, b->step[i]);
        off[i] = (b->metric[i] - e) * sqrt(b->count[i]);
        count += b->count[i];
    }
    d->allowance = fmax(count * pow(misfit * best->drop, 2), DBL_MIN);
    double like = likeness(d, off);
    d->freedom = fmax((b->n - 2) * (1 - like) / (1 + like), freedom_least);
    for (uint32_t i = 0; i < b->n; i++)
        off[i] = fabs(off[i]);
    weigh_bins(d, off);
}

static struct loss to_loss(const struct loss_shape *c)
{
    double a = c->drop / (c->first - c->last), limit = c->level - a * c->last;
    if (c->drop == 0)
        return (struct loss){LOSS_POWER, 0, 0, c->level};
    if (c->kind == LOSS_INVERSE)
        return (struct loss){LOSS_INVERSE, 1 / (a * c->theta), 1 / a, limit};
    return (struct loss){c->kind, a, c->theta, limit};
}

/* One round; false if no form distinguishes the steps. */
static bool fit_shapes(struct data *d, struct loss_fit *f)
{
    struct search searches[LOSS_FORMS] = {
        {.kind = LOSS_INVERSE, .low = log(1e-4 * f->to), .high = log(30 * f->to)},
        {.kind = LOSS_POWER, .low = log(0.02), .high = log(30)},
        {.kind = LOSS_DECAY, .low = log(0.03 / f->to), .high = log(300 / f->to)},
    };
    double least = INFINITY, weight = 0;
    const struct loss_shape *best = NULL;
    for (int k = 0; k < LOSS_FORMS; k++) {
        struct loss_shape *shapes = f->shapes + (size_t)k * LOSS_GRID;
        fit_form(d, &searches[k], shapes);
        for (int i = 0; i < LOSS_GRID; i++)
            if (searches[k].left[i] < least) {
                least = searches[k].left[i];
                best = &shapes[i];
            }
    }
    if (!best)
        return false;
    for (uint32_t i = 0; i < d->bins.n; i++)
        weight += d->weight[i];
    f->best = to_loss(best);
    f->residual = sqrt(least / weight);
    weigh_shapes(d, searches, f->shapes);
    f->freedom = d->freedom;
    weigh_by_fit(d, best);
    return true;
}

/* Constant to the last digit: certain, which the noise model cannot express. */
static void fit_flat(double metric, struct loss_fit *f)
{
    struct loss_shape c = {.kind = LOSS_POWER, .theta = 1, .weight = 1, .level = metric};
    c.first = form_at(&c, f->from);
    c.last = form_at(&c, f->to);
    f->shapes[0] = c;
    f->best = to_loss(&c);
}

bool loss_fit(const struct history *h, enum metric_goal goal, double target, struct loss_fit *fit)
{
    struct data d = {0};
    struct loss_bins *b = &d.bins;
    loss_bins_collect(h, b);
    if (b->distinct < LOSS_LEAST)
        return false;
    struct loss_fit f = {.rises = goal == METRIC_RISES, .from = b->from, .to = b->to};
    if (goal == METRIC_AUTO)
        f.rises = isfinite(target) ? target > b->metric[0] : loss_bins_gain(b) > 0;
    if (f.rises)
        loss_bins_negate(b);
    d.freedom = b->n - 2;
    d.allowance = DBL_MIN;
    weigh_by_neighbours(&d);
    if (loss_bins_range(b) == 0)
        fit_flat(b->metric[0], &f);
    else
        for (int i = 0; i < ROUNDS; i++)
            if (!fit_shapes(&d, &f))
                return false;
    *fit = f;
    return true;
}

double loss_fit_metric(const struct loss_fit *fit, double step)
{
    double e = loss_at(&fit->best, step);
    return fit->rises ? -e : e;
}

/* A question: when a target is reached (epoch 0), or when gains end. */
struct question {
    double target, epoch, gain;
};

/* P(T <= t) of Student's distribution, by Wallace's normal approximation (1959),
 * within 0.005 from three degrees of freedom on. */
static double student_below(double t, double freedom)
{
    double z = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
    return 0.5 * erfc((t > 0 ? -z : z) / sqrt(2));
}

/* P(x level + y drop <= bound) if the candidate is right. */
static double is_below(const struct loss_fit *f, const struct loss_shape *c, double x, double y,
                       double bound)
{
    double mean = x * c->level + y * c->drop;
    double variance =
        x * x * c->level_variance + y * y * c->drop_variance + 2 * x * y * c->covariance;
    if (!(variance > 0))
        return mean <= bound;
    return student_below((bound - mean) / sqrt(variance), f->freedom);
}

/* P(the answer is yes at this step) if the candidate is right. */
static double candidate_says(const struct loss_fit *f, const struct loss_shape *c,
                             const struct question *q, double step)
{
    double v = scaled_at(c, step);
    if (q->epoch == 0)
        return is_below(f, c, 1, v, q->target);
    double gain = v - scaled_at(c, step + q->epoch);
    if (gain <= q->gain * (1 - v))
        return 1;
    /* gain drop <= q->gain |level + v drop| */
    double part = c->level + v * c->drop > 0 ? q->gain : -q->gain;
    return is_below(f, c, -part, gain - part * v, 0);
}

static double all_say(const struct loss_fit *f, const struct question *q, double step)
{
    double sum = 0;
    for (int i = 0; i < LOSS_SHAPES; i++)
        if (f->shapes[i].weight > weight_least)
            sum += f->shapes[i].weight * candidate_says(f, &f->shapes[i], q, step);
    return sum;
}

/* The step at which the answer is yes with this probability. */
static double find_step(const struct loss_fit *f, const struct question *q, double probability)
{
    double low = f->to, high = f->to * LOSS_HORIZON;
    if (all_say(f, q, low) >= probability)
        return low;
    if (all_say(f, q, high) < probability)
        return INFINITY;
    for (int i = 0; i < BISECTIONS; i++) {
        double mid = sqrt(low * high);
        if (all_say(f, q, mid) >= probability)
            high = mid;
        else
            low = mid;
    }
    return high;
}

static struct range find_range(const struct loss_fit *f, const struct question *q)
{
    return (struct range){find_step(f, q, 0.1), find_step(f, q, 0.5), find_step(f, q, 0.9)};
}

struct range loss_fit_reaches(const struct loss_fit *fit, double target)
{
    struct question q = {.target = fit->rises ? -target : target};
    return find_range(fit, &q);
}

struct range loss_fit_settles(const struct loss_fit *fit, double epoch, double gain)
{
    struct question q = {.epoch = epoch, .gain = gain};
    return find_range(fit, &q);
}
