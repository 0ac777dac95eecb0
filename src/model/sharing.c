/* Owns the speed of jobs that share units.
 *
 * Interleaving follows Muri's simulator (Rivendile/Muri, matching.py). Time is cut into slots, and
 * a round has four of them. In each slot one job is in its GPU stage, one in its CPU stage and one
 * in its storage stage, which may take two slots; a slot lasts until all of them are done. The
 * order of the jobs is the best of all orders. Two jobs may also take turns: one reads while the
 * other computes. What the jobs do to each other beyond that was measured: a round takes
 * contention[n] times as long as the stages say. */
#include "model/sharing.h"

#include <math.h>

enum { STORAGE, CPU, GPU };
enum { SLOTS = 4, ROUNDS = 2 };

/* Measured by Muri for 1 to 4 jobs; a job alone takes 1.015 times what its iteration does. */
static const double contention[] = {1, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static bool is_close(double a, double b)
{
    return fabs(a - b) <= 1e-3 * larger(fabs(a), fabs(b));
}

/* How long a round takes when job order[k] begins k slots after the first. */
static double interleaved(const struct sharing *const *jobs, const unsigned *order, unsigned n)
{
    double end[SLOTS * ROUNDS + 1] = {0};
    for (unsigned i = 0; i < SLOTS * ROUNDS; i++) {
        unsigned gpu = (i + 1) % SLOTS, cpu = (i + 2) % SLOTS, storage = (i + 3) % SLOTS;
        double last = 0;
        if (gpu < n)
            last = larger(last, end[i] + jobs[order[gpu]]->stage[GPU]);
        if (cpu < n)
            last = larger(last, end[i] + jobs[order[cpu]]->stage[CPU]);
        if (i > 0 && storage < n)
            last = larger(last, end[i - 1] + jobs[order[storage]]->stage[STORAGE]);
        end[i + 1] = last;
        if (i >= SLOTS && end[i + 1] > end[i + 1 - SLOTS] &&
            is_close(end[i + 1] - end[i + 1 - SLOTS], end[i] - end[i - SLOTS]))
            return end[i + 1] - end[i + 1 - SLOTS];
    }
    return end[SLOTS * ROUNDS] - end[SLOTS * (ROUNDS - 1)];
}

/* Two jobs in turns: while one reads, the other computes. */
static double in_turns(const struct sharing *a, const struct sharing *b)
{
    return larger(a->stage[STORAGE], b->stage[CPU] + b->stage[GPU]) +
           larger(b->stage[STORAGE], a->stage[CPU] + a->stage[GPU]);
}

/* The first order in lexical order. Jobs of the same kind have the same number, so that exchanging
 * them makes no new order. */
static void first_order(const struct sharing *const *jobs, unsigned n, unsigned *order)
{
    for (unsigned i = 0; i < n; i++) {
        unsigned same = 0, at = i;
        while (jobs[same] != jobs[i])
            same++;
        for (; at > 0 && order[at - 1] > same; at--)
            order[at] = order[at - 1];
        order[at] = same;
    }
}

/* The next order in lexical order; false after the last. */
static bool next_order(unsigned *order, unsigned n)
{
    unsigned i = n - 1, k = n - 1;
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): first_order() set all n */
    while (i > 0 && order[i - 1] >= order[i])
        i--;
    if (i == 0)
        return false;
    while (order[k] <= order[i - 1])
        k--;
    unsigned swap = order[i - 1];
    order[i - 1] = order[k];
    order[k] = swap;
    for (k = n - 1; i < k; i++, k--) {
        swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    return true;
}

double sharing_cycle(const struct sharing *const *jobs, unsigned n)
{
    unsigned order[SHARING_MOST];
    first_order(jobs, n, order);
    double best = n == 2 ? in_turns(jobs[0], jobs[1]) : INFINITY;
    do {
        double takes = interleaved(jobs, order, n);
        best = takes < best ? takes : best;
    } while (next_order(order, n));
    return best * contention[n - 1];
}

static bool have_stages(const struct sharing *const *jobs, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (!(jobs[i]->step > 0))
            return false;
    return true;
}

static bool pair_rates(const struct sharing *a, const struct sharing *b, unsigned pool,
                       double *rates)
{
    if (!a->pairs || !b->pairs)
        return false;
    rates[0] = a->pairs[pool * a->kinds + b->kind];
    rates[1] = b->pairs[pool * b->kinds + a->kind];
    return rates[0] > 0 && rates[1] > 0;
}

bool sharing_rates(const struct sharing *const *jobs, unsigned n, unsigned pool, double *rates)
{
    if (n == 1) {
        rates[0] = 1;
        return true;
    }
    for (unsigned i = 0; i < n; i++)
        if (!jobs[i])
            return false;
    if (n > SHARING_MOST)
        return false;
    if (n == 2 && jobs[0]->pairs)
        return pair_rates(jobs[0], jobs[1], pool, rates);
    if (!have_stages(jobs, n))
        return false;
    double cycle = sharing_cycle(jobs, n);
    for (unsigned i = 0; i < n; i++)
        rates[i] = jobs[i]->step / cycle;
    return cycle > 0;
}
