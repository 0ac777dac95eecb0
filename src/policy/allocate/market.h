/* A market for the next rounds: how much time each job gets on the units that it requests. */
#ifndef POLICY_ALLOCATE_MARKET_H
#define POLICY_ALLOCATE_MARKET_H

#include <stdint.h>

enum { MARKET_PARTS = 5 };

struct buyer {
    double left;  /* seconds on what it requests */
    double total; /* from its beginning to its end */
    double units;
    double weight;
    double needs; /* time in the window without which it would end later than with a fair share */
    double time;  /* that the plan gives it */
    double more;  /* that it would buy at a price a little lower */
    /* Of each part of the logarithm: the price up to which it buys it, and the time until it is
     * through it. */
    double price[MARKET_PARTS], until[MARKET_PARTS];
};

struct market {
    struct buyer *buyers;
    uint32_t n;
    double units;  /* for sale, for the whole length */
    double length; /* of the window, in seconds */
    double rounds; /* in it */
    double k;      /* worth of a second by which the longest time left is shorter */
    double price;  /* of a unit for a second, found last; 0 at first */
};

/* Sets the time of each buyer so that the sum of the logarithms of their progress, by weight,
 * divided by buyers x rounds, minus k times the longest time left after the window, is nearly the
 * largest. Everyone gets what it needs; that must be possible. There is at least one buyer. */
void market_solve(struct market *m);

#endif
