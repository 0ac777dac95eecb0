/* Owns the market of the next rounds. For a given longest time left, the time that this requires is
 * taken, and the rest is sold at one price per unit and second. Both are one-dimensional searches:
 * demand falls with the price, and the value is concave in the longest time left. */
#include "policy/allocate/market.h"

#include <math.h>

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

static void set_prices(const struct market *m, struct buyer *b)
{
    double done = 1 - b->left / b->total;
    double scale = b->weight / (b->total * b->units * m->n * m->rounds);
    for (int i = 0; i < PARTS; i++) {
        b->price[i] = (logs[i + 1] - logs[i]) * PARTS * scale;
        b->until[i] = fmin(((i + 1.0) / PARTS - done) * b->total, fmin(b->left, m->length));
    }
}

/* The time that the job buys at this price of a GPU for a second. */
static double demand(const struct buyer *b, double price)
{
    double time = 0;
    for (int i = 0; i < PARTS && b->price[i] >= price; i++)
        time = b->until[i];
    return time;
}

/* What all buy at this price if nobody has more than `longest` left afterwards. */
static double sell(struct market *m, double price, double longest)
{
    double sum = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        struct buyer *b = &m->buyers[i];
        double needs = fmax(b->needs, fmin(b->left - longest, m->length));
        b->time = fmax(demand(b, price), fmax(needs, 0));
        sum += b->time * b->units;
    }
    return sum;
}

/* Between two prices that are nearly the same, at the higher of which there is enough, those that
 * buy more at the lower one get the part of it that is left. */
static void share_rest(struct market *m, double low, double high, double longest)
{
    double more = sell(m, low, longest), all = m->units * m->length;
    for (uint32_t i = 0; i < m->n; i++)
        m->buyers[i].more = m->buyers[i].time;
    double sum = sell(m, high, longest),
           part = more > sum ? fmin((all - sum) / (more - sum), 1) : 0;
    for (uint32_t i = 0; i < m->n; i++)
        m->buyers[i].time += part * (m->buyers[i].more - m->buyers[i].time);
}

/* Two prices that are nearly the same, between which as much is bought as there is. The search
 * starts from the last one. `low` is 0 if there is enough for all at any price. */
static void find_price(struct market *m, double longest, double *low, double *high)
{
    const double none = 1e-15, endless = 1e15;
    double all = m->units * m->length, factor = 2;
    *high = *low = m->price > 0 ? m->price : 1e-6;
    for (; sell(m, *high, longest) > all && *high < endless; factor *= factor) {
        *low = *high;
        *high *= factor;
    }
    for (; *low == *high || (*low > none && sell(m, *low, longest) <= all); factor *= factor) {
        *high = *low;
        *low /= factor;
    }
    if (*low <= none)
        *low = 0;
    while (*low > 0 && *high > *low * (1 + 1e-4)) {
        double price = sqrt(*low * *high);
        *(sell(m, price, longest) > all ? low : high) = price;
    }
    m->price = *high;
}

/* Sells everything; returns the value of that plan. */
static double clear(struct market *m, double longest)
{
    double low, high, value = 0;
    find_price(m, longest, &low, &high);
    share_rest(m, low, high, longest);
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
        if (sell(m, INFINITY, mid) > m->units * m->length)
            low = mid;
        else
            high = mid;
    }
    return high;
}

/* Finds the longest time left whose plan is worth most, by golden section: the value is concave. */
void market_solve(struct market *m)
{
    const double golden = 0.6180339887498949;
    double most = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        set_prices(m, &m->buyers[i]);
        most = fmax(most, m->buyers[i].left);
    }
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
