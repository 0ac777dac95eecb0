/* Owns loss curves. */
#include "model/loss.h"

#include <math.h>

double loss_at(const struct loss *l, double x)
{
    switch (l->kind) {
    case LOSS_NONE:
        return 0;
    case LOSS_EXP:
        return l->a == 0 ? 1 - x : 1 - expm1(-l->a * x) / expm1(-l->a);
    case LOSS_INVERSE:
        return 1 / (l->a * x + l->b) + l->c;
    case LOSS_POWER:
        return l->a * pow(x + 1, -l->b) + l->c;
    case LOSS_DECAY:
        return l->a * exp(-l->b * x) + l->c;
    }
    return 0;
}

double loss_reaches(const struct loss *l, double target, double limit)
{
    double low = 0, high = limit;
    if (l->kind == LOSS_NONE || !(loss_at(l, limit) <= target))
        return -1;
    if (loss_at(l, 0) <= target)
        return 0;
    for (int i = 0; i < 200 && high - low > 1e-12 * limit; i++) {
        double mid = (low + high) / 2;
        if (loss_at(l, mid) <= target)
            high = mid;
        else
            low = mid;
    }
    return high;
}
