/* Owns the division of pools by prices.
 *
 * At a price per unit of each pool, each bidder wants the option with the largest value minus
 * price. If what all want is there, no division is better. For one pool after the other the lowest
 * price is found, by bisection, at which no more is wanted than there is, and again as long as
 * prices change. Only options on the concave hull of a pool are wanted at any price.
 *
 * Bidders that are alike want the same until the same price and then give up together, so units are
 * left. They are sold one bidder at a time, to the one whose next choice gains most by these
 * prices, or loses least; first along the hulls, then any size that still fits.
 *
 * The prices also give an upper bound, so the gap is known: see prices_bound(). */
#include "policy/allocate/prices.h"

#include <math.h>
#include <string.h>

#include "policy/bids.h"

enum { SWEEPS = 6, STEPS = 24, REPAIRS = 8 };
#define TOLERANCE 1e-3 /* of a price */
#define START_TOLERANCE 1e-2

void prices_init(struct prices *p, const units_t *free, unsigned pools, uint32_t bidders,
                 struct arena *a)
{
    *p = (struct prices){.arena = a, .pools = pools};
    for (unsigned i = 0; i < pools; i++)
        p->free[i] = free[i];
    p->bidders = ARENA_ARRAY(a, bidders, struct price_bidder);
    p->lots = arena_raw(a, ((size_t)bidders * pools + 1) * sizeof *p->lots);
    p->options_cap = 16 * (bidders + 1);
    p->options = arena_raw(a, p->options_cap * sizeof *p->options);
}

void prices_begin(struct prices *p)
{
    p->bidders[p->nbidders++] = (struct price_bidder){.first = p->nlots, .choice = PRICES_NONE};
}

void prices_offer(struct prices *p, unsigned pool, units_t n, double value)
{
    struct price_bidder *b = &p->bidders[p->nbidders - 1];
    if (!(value > 0) || n > p->free[pool])
        return;
    if (p->noptions == p->options_cap) {
        size_t cap = 2 * (size_t)p->options_cap;
        struct price_option *more = arena_raw(p->arena, cap * sizeof *more);
        p->options = memcpy(more, p->options, p->noptions * sizeof *more);
        p->options_cap = (uint32_t)cap;
    }
    if (!b->count || p->lots[p->nlots - 1].pool != pool) {
        p->lots[p->nlots++] = (struct price_lot){
            .bidder = p->nbidders - 1, .first = p->noptions, .pool = (uint8_t)pool};
        b->count++;
    }
    p->lots[p->nlots - 1].count++;
    p->options[p->noptions++] = (struct price_option){n, value, (uint8_t)pool};
}

/* The slope from the last of these steps, or from nothing, to an option. */
static double slope_to(const struct prices *p, const struct price_step *steps, uint32_t n,
                       const struct price_option *o)
{
    const struct price_option *from = n ? &p->options[steps[n - 1].option] : NULL;
    return (o->value - (from ? from->value : 0)) / (double)(o->n - (from ? from->n : 0));
}

/* Finds the hull of each lot: slopes fall. */
static void find_hulls(struct prices *p)
{
    uint32_t at = 0;
    p->steps = arena_raw(p->arena, ((size_t)p->noptions + 1) * sizeof *p->steps);
    for (uint32_t i = 0; i < p->nlots; i++) {
        struct price_lot *lot = &p->lots[i];
        struct price_step *steps = &p->steps[at];
        uint32_t n = 0;
        for (uint32_t k = lot->first; k < lot->first + lot->count; k++) {
            const struct price_option *o = &p->options[k];
            while (n && slope_to(p, steps, n, o) >= steps[n - 1].slope)
                n--;
            double slope = slope_to(p, steps, n, o);
            if (slope > 0)
                steps[n++] = (struct price_step){k, slope};
        }
        lot->step = at;
        lot->steps = n;
        at += n;
    }
}

static double net(const struct prices *p, const struct price_option *o)
{
    return o->value - p->price[o->pool] * (double)o->n;
}

/* The option of the lot with the largest net value; NULL if none has any. */
static const struct price_option *best_of(const struct prices *p, const struct price_lot *lot)
{
    const struct price_step *steps = &p->steps[lot->step];
    double price = p->price[lot->pool];
    uint32_t low = 0, high = lot->steps; /* steps whose slope is above the price */
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (steps[mid].slope > price)
            low = mid + 1;
        else
            high = mid;
    }
    return low ? &p->options[steps[low - 1].option] : NULL;
}

/* Notes what each bidder gains in the other pools, which does not change while the price of this
 * one is searched. Of equal offers a bidder wants the one in the first pool. */
static void look_elsewhere(struct prices *p, unsigned pool)
{
    for (uint32_t i = 0; i < p->nbidders; i++)
        p->bidders[i].elsewhere = 0;
    for (uint32_t i = 0; i < p->nlots; i++) {
        const struct price_option *o = p->lots[i].pool == pool ? NULL : best_of(p, &p->lots[i]);
        double *most = &p->bidders[p->lots[i].bidder].elsewhere;
        double less = p->lots[i].pool > pool ? 1 - 1e-9 : 1;
        *most = o ? fmax(*most, less * net(p, o)) : *most;
    }
}

static units_t demand(const struct prices *p, unsigned pool)
{
    units_t sum = 0;
    for (uint32_t i = 0; i < p->nlots; i++) {
        if (p->lots[i].pool != pool)
            continue;
        const struct price_option *o = best_of(p, &p->lots[i]);
        sum += o && net(p, o) > p->bidders[p->lots[i].bidder].elsewhere ? o->n : 0;
    }
    return sum;
}

/* The most that anybody would pay for a unit of the pool, and what is paid for a first one on
 * average. */
struct worth {
    double highest, mean;
};

static struct worth worth_of(const struct prices *p, unsigned pool)
{
    struct worth w = {0};
    double n = 0;
    for (uint32_t i = 0; i < p->nlots; i++) {
        if (p->lots[i].pool != pool || !p->lots[i].steps)
            continue;
        double slope = p->steps[p->lots[i].step].slope;
        w.highest = fmax(w.highest, slope);
        w.mean += slope;
        n++;
    }
    w.mean = n > 0 ? w.mean / n : 0;
    return w;
}

/* Units of all pools that are wanted. */
static units_t total_demand(struct prices *p)
{
    units_t sum = 0;
    for (unsigned i = 0; i < p->pools; i++) {
        look_elsewhere(p, i);
        sum += demand(p, i);
    }
    return sum;
}

/* Starts with prices in proportion to what the pools are worth, at which no more units are wanted
 * than there are. If pools are alike, bidders would otherwise go back and forth between them, and
 * the prices rise a little at a time. */
static void start_prices(struct prices *p, const struct worth *w)
{
    units_t all = 0;
    double low = 0, high = 0;
    for (unsigned i = 0; i < p->pools; i++) {
        all += p->free[i];
        high = w[i].mean > 0 ? fmax(high, w[i].highest / w[i].mean) : high;
    }
    if (total_demand(p) <= all)
        return;
    for (int i = 0; i < STEPS && high - low > START_TOLERANCE * high; i++) {
        double middle = (low + high) / 2;
        for (unsigned k = 0; k < p->pools; k++)
            p->price[k] = middle * w[k].mean;
        *(total_demand(p) > all ? &low : &high) = middle;
    }
    for (unsigned k = 0; k < p->pools; k++)
        p->price[k] = high * w[k].mean;
}

/* Sets the lowest price of the pool at which no more is wanted than there is. Returns whether it
 * has changed. */
static bool set_price(struct prices *p, unsigned pool, double highest)
{
    double low = 0, high = highest, old = p->price[pool];
    look_elsewhere(p, pool);
    p->price[pool] = 0;
    if (demand(p, pool) <= p->free[pool])
        return old > 0;
    for (int i = 0; i < STEPS && high - low > TOLERANCE * high; i++) {
        p->price[pool] = (low + high) / 2;
        *(demand(p, pool) > p->free[pool] ? &low : &high) = p->price[pool];
    }
    p->price[pool] = high;
    return fabs(high - old) > TOLERANCE * high;
}

static void find_prices(struct prices *p)
{
    struct worth w[POOLS_MAX] = {0};
    bool changed = true;
    for (unsigned i = 0; i < p->pools; i++)
        w[i] = worth_of(p, i);
    start_prices(p, w);
    for (int sweep = 0; changed && sweep < SWEEPS; sweep++) {
        changed = false;
        for (unsigned i = 0; i < p->pools; i++)
            changed |= set_price(p, i, w[i].highest);
    }
}

static void choose(struct prices *p, struct price_bidder *b, uint32_t option)
{
    if (b->choice != PRICES_NONE)
        p->free[p->options[b->choice].pool] += p->options[b->choice].n;
    b->choice = option;
    p->free[p->options[option].pool] -= p->options[option].n;
}

/* The option with the largest net value that fits into what is left, and is worth more than the
 * bidder's choice; PRICES_NONE if there is none. */
static uint32_t next_choice(const struct prices *p, const struct price_bidder *b, bool hull,
                            double *gain)
{
    const struct price_option *own = b->choice == PRICES_NONE ? NULL : &p->options[b->choice];
    uint32_t best = PRICES_NONE;
    *gain = -INFINITY;
    for (const struct price_lot *lot = &p->lots[b->first]; lot < &p->lots[b->first] + b->count;
         lot++) {
        units_t room = p->free[lot->pool] + (own && own->pool == lot->pool ? own->n : 0);
        for (uint32_t i = 0; i < (hull ? lot->steps : lot->count); i++) {
            uint32_t at = hull ? p->steps[lot->step + i].option : lot->first + i;
            const struct price_option *o = &p->options[at];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): a lot has options */
            if (o->n > room)
                break;
            double more = net(p, o) - (own ? net(p, own) : 0);
            if (o->value > (own ? own->value : 0) && more > *gain) {
                *gain = more;
                best = at;
            }
        }
    }
    return best;
}

/* Gives everybody what it wants as far as it is there, those that gain most first, and sells what
 * is left. A bid is only checked when it is the highest. Returns whether anything was sold: those
 * that changed pools have left units that others can use. */
static bool sell(struct prices *p, bool hull)
{
    struct bids bids;
    double gain;
    bool any = false;
    bids_init(&bids, p->nbidders, p->arena);
    for (uint32_t i = 0; i < p->nbidders; i++)
        if (next_choice(p, &p->bidders[i], hull, &gain) != PRICES_NONE)
            bids_push(&bids, gain, i);
    while (bids.n) {
        struct bid top = bids_top(&bids);
        struct price_bidder *b = &p->bidders[top.at];
        uint32_t o = next_choice(p, b, hull, &gain);
        if (o != PRICES_NONE && gain >= top.key) {
            any = true;
            choose(p, b, o);
            o = next_choice(p, b, hull, &gain);
        }
        if (o == PRICES_NONE)
            bids_pop(&bids);
        else
            bids_replace(&bids, gain);
    }
    return any;
}

void prices_solve(struct prices *p)
{
    find_hulls(p);
    find_prices(p);
    sell(p, true);
    for (int i = 0; i < REPAIRS && sell(p, false); i++)
        ;
}

double prices_value(const struct prices *p)
{
    double sum = 0;
    for (uint32_t i = 0; i < p->nbidders; i++) {
        const struct price_option *o = prices_choice(p, i);
        sum += o ? o->value : 0;
    }
    return sum;
}

/* By weak duality: all units at their prices, and what each bidder gains at these. */
double prices_bound(const struct prices *p)
{
    double sum = 0;
    for (unsigned i = 0; i < p->pools; i++)
        sum += p->price[i] * (double)p->free[i];
    for (uint32_t i = 0; i < p->nbidders; i++) {
        const struct price_bidder *b = &p->bidders[i];
        const struct price_option *own = prices_choice(p, i);
        double most = 0;
        for (uint32_t k = b->first; k < b->first + b->count; k++) {
            const struct price_option *o = best_of(p, &p->lots[k]);
            most = fmax(most, o ? net(p, o) : 0);
        }
        sum += most + (own ? p->price[own->pool] * (double)own->n : 0);
    }
    return sum;
}
