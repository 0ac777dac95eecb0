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
};

/* One part of the logarithm of a buyer's progress. */
struct market_part {
    double price; /* up to which it is bought, of a unit for a second */
    double until; /* time until the buyer is through it */
    uint32_t buyer;
};

struct market {
    struct buyer *buyers;
    uint32_t n;
    double units;              /* for sale, for the whole length */
    double length;             /* of the window, in seconds */
    double rounds;             /* in it */
    double k;                  /* worth of a second by which the longest time left is shorter */
    struct market_part *parts; /* room for MARKET_PARTS of each buyer */
    uint32_t nparts;
};

/* Sets the time of each buyer so that the sum of the logarithms of their progress, by weight,
 * divided by buyers x rounds, minus k times the longest time left after the window, is nearly the
 * largest. Everyone gets what it needs; that must be possible. There is at least one buyer. */
void market_solve(struct market *m);

#endif
