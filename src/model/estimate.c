/* Owns the remaining time, which follows from the fits of metric and speed, and the errors
 * of past predictions. The uncertainties of steps and of step time are independent, so
 * their relative widths add in squares, on both sides of the centre. */
#include "model/estimate.h"

#include <math.h>

static const double gain_least = 0.001; /* of an epoch: a job that gains less has settled */

static const struct range anything = {0, INFINITY, INFINITY};

/* The newest step that was reported. */
static double steps_done(const struct history *h)
{
    double step = h && h->n ? h->last.step : 0;
    for (uint32_t i = h ? h->n : 0; !isfinite(step) && i-- > 0;)
        step = h->at[i].step;
    return isfinite(step) && step > 0 ? step : 0;
}

/* Turns the step of the end into the number of steps until then. */
static struct range steps_until(struct range end, double done)
{
    return (struct range){fmax(end.low - done, 0), fmax(end.mid - done, 0),
                          fmax(end.high - done, 0)};
}

struct steps_left estimate_steps(const struct history *h, const struct steps_goal *goal)
{
    struct loss_fit fit;
    double done = steps_done(h);
    if (goal->total > 0 && isfinite(goal->total)) {
        double left = fmax(goal->total - done, 0);
        return (struct steps_left){STEPS_DECLARED, {left, left, left}};
    }
    if (!h || !loss_fit(h, goal->metric, goal->target, &fit))
        return (struct steps_left){STEPS_UNKNOWN, anything};
    if (isfinite(goal->target)) {
        struct range left = steps_until(loss_fit_reaches(&fit, goal->target), done);
        return (struct steps_left){isinf(left.mid) ? STEPS_UNREACHABLE : STEPS_TARGET, left};
    }
    bool given = goal->epoch > 0 && isfinite(goal->epoch);
    struct range end = loss_fit_settles(&fit, given ? goal->epoch : fit.to / 100, gain_least);
    /* A straight line falls forever and never settles: nothing is known. */
    if (isinf(end.mid))
        return (struct steps_left){STEPS_UNKNOWN, anything};
    return (struct steps_left){STEPS_SETTLED, steps_until(end, done)};
}

/* How far off the product of two independent estimates is, given how far off each is; all
 * are ratios >= 1. */
static double combine(double a, double b)
{
    return exp(hypot(log(a), log(b)));
}

struct range estimate_time(const struct speed_fit *speed, const struct steps_left *left, units_t n)
{
    const struct range *s = &left->steps;
    if (s->high == 0)
        return (struct range){0, 0, 0};
    if (n <= 0)
        return (struct range){INFINITY, INFINITY, INFINITY};
    if (speed->sizes == 0 || left->basis == STEPS_UNKNOWN)
        return anything;
    struct range t = speed_fit_step(speed, n);
    if (s->mid == 0)
        return (struct range){0, 0, s->high * t.mid};
    if (isinf(s->mid))
        return (struct range){s->low * t.low, INFINITY, INFINITY};
    double mid = s->mid * t.mid;
    return (struct range){mid / combine(s->mid / s->low, t.mid / t.low), mid,
                          mid * combine(s->high / s->mid, t.high / t.mid)};
}

static usec_t end_after(usec_t now, double left)
{
    return left < (double)USEC_LIMIT ? now + llround(left) : USEC_NEVER;
}

struct estimate_record estimate_record_make(usec_t now, const struct range *left)
{
    return (struct estimate_record){now, end_after(now, left->low), end_after(now, left->mid),
                                    end_after(now, left->high)};
}

double estimate_record_error(const struct estimate_record *r, usec_t end)
{
    if (r->end == USEC_NEVER || end <= r->at)
        return NAN;
    double error = ((double)r->end - (double)end) / ((double)end - (double)r->at);
    return fmax(-ESTIMATE_ERROR_MAX, fmin(ESTIMATE_ERROR_MAX, error));
}

void estimate_score_add(struct estimate_score *score, const struct estimate_record *r, usec_t end)
{
    double error = estimate_record_error(r, end);
    if (isnan(error) || score->n == UINT32_MAX)
        return;
    score->n++;
    score->inside += r->low <= end && end <= r->high;
    score->error += (fabs(error) - score->error) / score->n;
    score->bias += (error - score->bias) / score->n;
}
