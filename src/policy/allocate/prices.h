/* Division of several pools by prices: which pool, and how many units of it, each bidder gets so
 * that the sum of values is nearly the largest.
 *
 * Usage: prices_init(); for each bidder prices_begin() and one prices_offer() for each option, by
 * pool and in growing order within a pool; prices_solve(); then prices_choice(). */
#ifndef POLICY_ALLOCATE_PRICES_H
#define POLICY_ALLOCATE_PRICES_H

#include "model/job.h"

enum { PRICES_NONE = UINT32_MAX };

/* One of the things that a bidder could have. */
struct price_option {
    units_t n;
    double value; /* above 0 */
    uint8_t pool;
};

/* A step to an option on the concave hull of a pool. */
struct price_step {
    uint32_t option;
    double slope; /* value per unit beyond the step before it, or beyond nothing */
};

/* All options of one bidder in one pool. */
struct price_lot {
    uint32_t bidder;
    uint32_t first, count; /* options */
    uint32_t step, steps;  /* those on the hull */
    uint8_t pool;
};

struct price_bidder {
    uint32_t first, count; /* its lots */
    uint32_t choice;       /* index of an option, or PRICES_NONE */
    double elsewhere;      /* what it gains at the current prices in other pools */
};

struct prices {
    struct arena *arena;
    unsigned pools;
    units_t free[POOLS_MAX]; /* units for sale; after prices_solve() what is left */
    double price[POOLS_MAX]; /* of a thousandth of a unit; set by prices_solve() */
    struct price_option *options;
    struct price_step *steps;
    struct price_bidder *bidders;
    struct price_lot *lots;
    uint32_t noptions, options_cap, nbidders, nlots;
};

/* For at most `bidders` bidders; free[] has the units of each of so many pools. */
void prices_init(struct prices *p, const units_t *free, unsigned pools, uint32_t bidders,
                 struct arena *a);

/* The next bidder. */
void prices_begin(struct prices *p);

/* Offers it n units of the pool; values that are not above 0, and more than there is, are not
 * offered. */
void prices_offer(struct prices *p, unsigned pool, units_t n, double value);

/* Sets the choices. */
void prices_solve(struct prices *p);

/* What the bidder gets; NULL if nothing. */
static inline const struct price_option *prices_choice(const struct prices *p, uint32_t bidder)
{
    uint32_t choice = p->bidders[bidder].choice;
    return choice == PRICES_NONE ? NULL : &p->options[choice];
}

/* The sum of the values that are chosen, and a bound that no choice exceeds. */
double prices_value(const struct prices *p);
double prices_bound(const struct prices *p);

#endif
