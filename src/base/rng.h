/* A small seeded generator (xoshiro256**, seeded by splitmix64). The same seed gives the same
 * numbers everywhere. Nothing in the project uses the system's randomness where a result depends
 * on it. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include <stdint.h>

struct rng {
    uint64_t s[4];
};

void rng_init(struct rng *r, uint64_t seed);
uint64_t rng_next(struct rng *r);
/* In [0, 1). */
double rng_uniform(struct rng *r);
/* In [0, n); n > 0. */
uint64_t rng_below(struct rng *r, uint64_t n);
/* Exponential with the given mean. */
double rng_exponential(struct rng *r, double mean);
/* Standard normal. */
double rng_normal(struct rng *r);
/* A hash of one number: the same generator without a state. */
uint64_t rng_mix(uint64_t x);

#endif
