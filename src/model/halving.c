/* Owns the rule of successive halving.
 *
 * Source: L. Li, K. Jamieson, A. Rostamizadeh, E. Gonina, J. Ben-tzur, M. Hardt, B. Recht and
 * A. Talwalkar, "A System for Massively Parallel Hyperparameter Tuning" (MLSys 2020), ASHA,
 * algorithm 2, with the reduction factor 2 and `every` as the minimum resource r: of the members
 * of a rung, the better half is promoted to the next one, and nobody waits for the slowest.
 *
 * Deviations. ASHA promotes who is in the better half of those that have arrived so far, and lets
 * the others wait: they may be promoted when more have arrived. A training that waits would hold
 * its memory, so here it goes on instead, and is stopped as soon as it can no longer be promoted:
 * when as many members as may go on from the rung were better there. That number is half of all
 * that have reached the rung or still can, rounded up, so a member is never stopped for being
 * slower or earlier than others. At least `keep` members always go on: what --keep-best says. */
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

uint32_t halving_quota(uint32_t members, uint32_t keep)
{
    uint32_t half = members / 2 + members % 2;
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
