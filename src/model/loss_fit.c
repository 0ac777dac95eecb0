/* Owns the extrapolation of a job's metric.
 *
 * Three forms are tried: 1/(b0 s + b1) + b2 of Optimus (Peng et al., EuroSys'18,
 * 3.1), a power law a (s+1)^-b + c, and a decay a exp(-b s) + c. All are linear
 * but in one parameter, theta, so each is fitted by a search along theta with
 * weighted least squares for the rest: nothing diverges, and no start value is
 * needed. Bins that do not agree with the best fit are weighted down (Huber).
 *
 * Deviation: Optimus takes the one best fit. Early curves can be continued in
 * several ways that fit alike, so all candidates are kept here with the
 * probability that each is right (flat in log theta; normal noise of unknown
 * size, integrated out). Given one candidate the metric at a step is a linear
 * function of level and drop, hence Student-distributed; the answers are
 * quantiles of the mixture, and the best fit prevails as soon as the data tell
 * the candidates apart. Optimus' b2 >= 0 is not kept: it would exclude losses
 * below 0, and with noise around a limit of 0 it makes predictions late. */
#include "model/loss_fit.h"

#include <math.h>
#include <stddef.h>

#include "model/loss_bins.h"

enum { HUBER_ROUNDS = 3, ZOOMS = 3, BISECTIONS = 40 };

static const double misfit = 0.002; /* of true curves from a form, of their range */
static const double huber = 1.5;    /* standard deviations */
static const double zoom_below = 8; /* logarithm of the weight that no longer counts */
static const double weight_least = 1e-6;

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

/* Weighted least squares for level and drop, given kind and theta; variances are
 * for noise of 1. Returns the sum of squares that is left, infinite when the form
 * cannot tell the steps apart. */
static double fit_shape(const struct loss_bins *b, struct loss_shape *c)
{
    double v[LOSS_BINS], w = 0, wv = 0, wvv = 0, we = 0, wve = 0, left = 0;
    c->first = form_at(c, b->from);
    c->last = form_at(c, b->to);
    if (!(c->first - c->last > 1e-12 * c->first))
        return INFINITY;
    for (uint32_t i = 0; i < b->n; i++) {
        v[i] = scaled_at(c, b->at[i].step);
        w += b->weight[i];
        wv += b->weight[i] * v[i];
        wvv += b->weight[i] * v[i] * v[i];
        we += b->weight[i] * b->at[i].metric;
        wve += b->weight[i] * b->at[i].metric * v[i];
    }
    double det = w * wvv - wv * wv;
    if (!(det > 1e-12 * w * wvv))
        return INFINITY;
    c->level = (we * wvv - wve * wv) / det;
    c->drop = (wve * w - we * wv) / det;
    c->level_variance = wvv / det;
    c->drop_variance = w / det;
    c->covariance = -wv / det;
    if (c->drop < 0) { /* it went the wrong way: for the goal it stands still */
        c->level = we / w;
        c->drop = c->drop_variance = c->covariance = 0;
        c->level_variance = 1 / w;
    }
    for (uint32_t i = 0; i < b->n; i++)
        left += b->weight[i] * pow(b->at[i].metric - c->level - c->drop * v[i], 2);
    return left;
}

/* What one form is tried with. */
struct search {
    enum loss_kind kind;
    double low, high; /* logarithms of theta */
    double left[LOSS_GRID];
    double log_weight[LOSS_GRID]; /* per unit of log theta */
};

/* Fits the form at the middle of each cell of its range; returns the width of a
 * cell. */
static double try_cells(const struct loss_bins *b, double freedom, struct search *s,
                        struct loss_shape *shapes)
{
    double cell = (s->high - s->low) / LOSS_GRID;
    for (int i = 0; i < LOSS_GRID; i++) {
        shapes[i] = (struct loss_shape){.kind = s->kind, .theta = exp(s->low + (i + 0.5) * cell)};
        s->left[i] = fit_shape(b, &shapes[i]);
        s->log_weight[i] = -freedom / 2 * log(s->left[i] + b->allowance);
    }
    return cell;
}

/* Narrows the range of theta to where the weight is; false when it is there. */
static bool zoom_in(struct search *s, double cell)
{
    double best = -INFINITY;
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
    double low = s->low + (first - 1) * cell, high = s->low + (last + 2) * cell;
    s->low = fmax(s->low, low);
    s->high = fmin(s->high, high);
    return true;
}

static void fit_form(const struct loss_bins *b, double freedom, struct search *s,
                     struct loss_shape *shapes)
{
    double all = s->high - s->low, cell = try_cells(b, freedom, s, shapes);
    for (int i = 0; i < ZOOMS && zoom_in(s, cell); i++)
        cell = try_cells(b, freedom, s, shapes);
    for (int i = 0; i < LOSS_GRID; i++)
        s->log_weight[i] += log(cell / all);
}

static void weigh_bins(struct loss_bins *b, const struct loss_shape *c)
{
    double off[LOSS_BINS], sorted[LOSS_BINS], count = 0;
    for (uint32_t i = 0; i < b->n; i++) {
        double e = c->level + c->drop * scaled_at(c, b->at[i].step);
        off[i] = fabs(b->at[i].metric - e) * sqrt(b->count[i]);
        uint32_t j = i;
        for (; j > 0 && sorted[j - 1] > off[i]; j--)
            sorted[j] = sorted[j - 1];
        sorted[j] = off[i];
        count += b->count[i];
    }
    /* 1.4826 median deviations are one standard deviation of normal noise. */
    double spread = 1.4826 * (sorted[(b->n - 1) / 2] + sorted[b->n / 2]) / 2;
    double bound = huber * fmax(spread, sqrt(b->allowance / count));
    for (uint32_t i = 0; i < b->n; i++)
        b->weight[i] = b->count[i] * (off[i] > bound ? bound / off[i] : 1);
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

/* Turns what the searches left over into weights and variances. */
static void weigh_shapes(const struct loss_bins *b, const struct search *searches, struct loss_fit *f)
{
    double best = -INFINITY, sum = 0;
    for (int i = 0; i < LOSS_SHAPES; i++)
        best = fmax(best, searches[i / LOSS_GRID].log_weight[i % LOSS_GRID]);
    for (int i = 0; i < LOSS_SHAPES; i++) {
        const struct search *s = &searches[i / LOSS_GRID];
        struct loss_shape *c = &f->shapes[i];
        double noise = (s->left[i % LOSS_GRID] + b->allowance) / f->freedom;
        c->weight = isfinite(noise) ? exp(s->log_weight[i % LOSS_GRID] - best) : 0;
        c->level_variance *= noise;
        c->drop_variance *= noise;
        c->covariance *= noise;
        sum += c->weight;
    }
    for (int i = 0; i < LOSS_SHAPES; i++)
        f->shapes[i].weight /= sum;
}

/* One round; false when no form can tell the steps apart. */
static bool fit_shapes(struct loss_bins *b, struct loss_fit *f)
{
    struct search searches[LOSS_FORMS] = {
        {.kind = LOSS_INVERSE, .low = log(1e-4 * b->to), .high = log(30 * b->to)},
        {.kind = LOSS_POWER, .low = log(0.02), .high = log(30)},
        {.kind = LOSS_DECAY, .low = log(0.03 / b->to), .high = log(300 / b->to)},
    };
    double least = INFINITY, weight = 0;
    const struct loss_shape *best = NULL;
    for (int k = 0; k < LOSS_FORMS; k++) {
        struct loss_shape *shapes = f->shapes + (size_t)k * LOSS_GRID;
        fit_form(b, f->freedom, &searches[k], shapes);
        for (int i = 0; i < LOSS_GRID; i++)
            if (searches[k].left[i] < least) {
                least = searches[k].left[i];
                best = &shapes[i];
            }
    }
    if (!best)
        return false;
    for (uint32_t i = 0; i < b->n; i++)
        weight += b->weight[i];
    f->best = to_loss(best);
    f->residual = sqrt(least / weight);
    weigh_shapes(b, searches, f);
    weigh_bins(b, best);
    return true;
}

/* Constant to the last digit: certain, which the noise model cannot be. */
static void fit_flat(const struct loss_bins *b, struct loss_fit *f)
{
    struct loss_shape c = {.kind = LOSS_POWER, .theta = 1, .weight = 1, .level = b->metric[0]};
    c.first = form_at(&c, b->from);
    c.last = form_at(&c, b->to);
    f->shapes[0] = c;
    f->best = to_loss(&c);
}

bool loss_fit(const struct history *h, enum metric_goal goal, double target, struct loss_fit *fit)
{
    struct loss_bins b;
    if (!loss_bins_collect(h, &b) || b.distinct < LOSS_LEAST)
        return false;
    struct loss_fit f = {.from = b.from, .to = b.to, .freedom = b.n - 2};
    if (goal == METRIC_AUTO)
        f.rises = isfinite(target) ? target > b.metric[0] : loss_bins_gain(&b) > 0;
    else
        f.rises = goal == METRIC_RISES;
    if (f.rises)
        loss_bins_negate(&b);
    double range = loss_bins_range(&b);
    allowance = fmax(b.count_all * pow(misfit * range, 2), DBL_MIN);
    for (int i = 0; range > 0 && i < HUBER_ROUNDS; i++)
        if (!fit_shapes(&b, &f))
            return false;
    if (range == 0)
        fit_flat(&b, &f);
    *fit = f;
    return true;
}

double loss_fit_metric(const struct loss_fit *fit, double step)
{
    double e = loss_at(&fit->best, step);
    return fit->rises ? -e : e;
}
