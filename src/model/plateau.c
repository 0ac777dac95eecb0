/* Owns the rule for metrics that have stopped improving.
 *
 * The value at the beginning of the window is the one to improve upon. When a value is better by
 * more than the part, it takes its place and the window begins again. When the window has passed
 * without that, the metric is flat. This is early stopping with patience (L. Prechelt, "Early
 * stopping - but when?", 1998, criterion UP) with a relative minimum of improvement, so that
 * noise around a level does not count as progress. */
#include "model/plateau.h"

#include <math.h>

static bool improves(const struct plateau *p, const struct flatness *rule, bool rises, double value)
{
    double gain = rises ? value - p->value : p->value - value;
    return isfinite(value) && gain > rule->part * fabs(p->value);
}

static bool window_passed(const struct plateau *p, const struct flatness *rule, usec_t at,
                          double step)
{
    return rule->time ? at - p->at >= rule->time : step - p->step >= rule->steps;
}

bool plateau_add(struct plateau *p, const struct flatness *rule, bool rises, usec_t at, double step,
                 double value)
{
    bool resumed = p->begun && p->at == USEC_NEVER;
    if (!p->begun && !isfinite(value))
        return false;
    if (!p->begun || improves(p, rule, rises, value)) {
        *p = (struct plateau){true, value, step, at};
        return false;
    }
    if (resumed) {
        p->at = at;
        p->step = step;
    }
    return window_passed(p, rule, at, step);
}

void plateau_break(struct plateau *p)
{
    p->at = USEC_NEVER;
}
