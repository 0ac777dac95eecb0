/* Owns the rule of successive halving.
 *
 * Source: L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht and
 * A. Talwalkar, "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), ASHA,
 * algorithm 2, with the reduction factor 2 and `every` as the minimum resource r. The rule is
 * asynchronous: of the members that have reached a rung so far, the better half goes on; nobody
 * waits for those that come later.
 *
 * Deviations. A job that waits at a rung would hold its memory, so a member goes on until it is
 * known to be in the worse half, and is then stopped, at any time: also when a later one pushes
 * it out. The half is rounded up. At least `keep` members always go on: what --keep-best says. */
#include "model/halving.h"

#include <math.h>
#include <stdlib.h>

int64_t halving_step(int64_t every, uint32_t k)
{
    return every << k;
}

uint32_t halving_passed(int64_t every, double step)
{
    uint32_t k = 0;
    while (k < HALVING_RUNGS && every <= INT64_MAX >> (k + 1) &&
           (double)halving_step(every, k) <= step)
        k++;
    return k;
}

uint32_t halving_quota(uint32_t reached, uint32_t keep)
{
    uint32_t half = reached / 2 + reached % 2;
    return half > keep ? half : keep;
}

/* From best to worst when smaller is better. */
static int compare_falling(const void *a, const void *b)
{
    const struct halving_member *x = a, *y = b;
    if (isnan(x->value) != isnan(y->value))
        return isnan(x->value) ? 1 : -1;
    if (x->value < y->value || x->value > y->value)
        return x->value < y->value ? -1 : 1;
    return x->job < y->job ? -1 : x->job > y->job;
}

static int compare_rising(const void *a, const void *b)
{
    struct halving_member x = *(const struct halving_member *)a,
                          y = *(const struct halving_member *)b;
    x.value = -x.value;
    y.value = -y.value;
    return compare_falling(&x, &y);
}

void halving_rank(struct halving_member *members, uint32_t n, bool rises)
{
    if (n)
        qsort(members, n, sizeof *members, rises ? compare_rising : compare_falling);
}
