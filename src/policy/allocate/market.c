/* Owns the market of the next rounds. For a given longest time left, the time that this requires is
 * taken, and the rest is sold at one price per unit and second. Each buyer pays less for each
 * further part, so one pass over the parts of all, the dearest first, finds the price. The value is
 * concave in the longest time left, so a one-dimensional search finds the best. */
#include "policy/allocate/market.h"

#include <math.h>
#include <stdlib.h>

enum { PARTS = MARKET_PARTS, STEPS = 14 };

/* The logarithm of progress in five linear parts, each a fifth of the job: its value at the
 * beginning of each and at the end of the last. At 0 it is that of 1e-6. */
static const double logs[PARTS + 1] = {-13.815510557964274, -1.6094379124341003, -0.916290731874155,
                                       -0.5108256237659907, -0.2231435513142097, 0};

static double utility(double progress)
{
    double at = fmin(fmax(progress, 0), 1) * PARTS;
    int part = at < PARTS - 1 ? (int)at : PARTS - 1;
    return logs[part] + (logs[part + 1] - logs[part]) * (at - part);
}

static int compare_parts(const void *a, const void *b)
{
    const struct market_part *x = a, *y = b;
    if (x->price != y->price)
        return x->price > y->price ? -1 : 1;
    return (x->buyer > y->buyer) - (x->buyer < y->buyer);
}

/* Lists the parts that are still to be bought, the dearest first. */
static void list_parts(struct market *m)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < m->n; k++) {
        const struct buyer *b = &m->buyers[k];
        double done = 1 - b->left / b->total;
        double scale = b->weight / (b->total * b->units * m->n * m->rounds);
        double most = fmin(b->left, m->length);
        for (int i = 0; i < PARTS; i++) {
            double until = fmin(((i + 1.0) / PARTS - done) * b->total, most);
            if (until > 0)
                m->parts[n++] =
                    (struct market_part){(logs[i + 1] - logs[i]) * PARTS * scale, until, k};
            if (until >= most)
                break;
        }
    }
    m->nparts = n;
    qsort(m->parts, n, sizeof *m->parts, compare_parts);
}

/* Gives each buyer the time without which it would have more than `longest` left, or would not be
 * fair; returns the sum over all units. */
static double take_needs(struct market *m, double longest)
{
    double sum = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        struct buyer *b = &m->buyers[i];
        b->time = fmax(fmax(b->needs, fmin(b->left - longest, m->length)), 0);
        sum += b->time * b->units;
    }
    return sum;
}

/* What the part adds to the time of its buyer. */
static double more_time(const struct market *m, const struct market_part *p)
{
    return fmax(p->until - m->buyers[p->buyer].time, 0);
}

/* Sells everything; returns the value of that plan. Those who pay the same price for what is left
 * at the end get the same portion of what they want. */
static double clear(struct market *m, double longest)
{
    double sum = take_needs(m, longest), all = m->units * m->length, value = 0;
    for (uint32_t i = 0, end; i < m->nparts && sum < all; i = end) {
        double wanted = 0;
        for (end = i; end < m->nparts && m->parts[end].price == m->parts[i].price; end++)
            wanted += more_time(m, &m->parts[end]) * m->buyers[m->parts[end].buyer].units;
        double portion = wanted > all - sum ? (all - sum) / wanted : 1;
        for (uint32_t k = i; k < end; k++)
            m->buyers[m->parts[k].buyer].time += portion * more_time(m, &m->parts[k]);
        sum += portion * wanted;
    }
    for (uint32_t i = 0; i < m->n; i++) {
        const struct buyer *b = &m->buyers[i];
        value += b->weight * utility(1 - (b->left - b->time) / b->total);
    }
    return value / (m->n * m->rounds) - m->k * longest;
}

/* The shortest time left for which there is enough, whatever the price is. */
static double least_left(struct market *m, double most)
{
    double low = 0, high = most;
    for (int i = 0; i < STEPS; i++) {
        double mid = (low + high) / 2;
        *(take_needs(m, mid) > m->units * m->length ? &low : &high) = mid;
    }
    return high;
}

/* Finds the longest time left whose plan is worth most, by golden section: the value is concave. */
void market_solve(struct market *m)
{
    const double golden = 0.6180339887498949;
    double most = 0;
    list_parts(m);
    for (uint32_t i = 0; i < m->n; i++)
        most = fmax(most, m->buyers[i].left);
    double low = fmax(least_left(m, most), most - m->length), high = most;
    double a = high - golden * (high - low), b = low + golden * (high - low);
    double at_a = clear(m, a), at_b = clear(m, b);
    for (int i = 0; i < STEPS; i++)
        if (at_a < at_b) {
            low = a, a = b, at_a = at_b;
            b = low + golden * (high - low);
            at_b = clear(m, b);
        } else {
            high = b, b = a, at_b = at_a;
            a = high - golden * (high - low);
            at_a = clear(m, a);
        }
    clear(m, at_a < at_b ? b : a);
}
