/* Random divisions of CPUs: nobody gets more than its limit, nothing is wasted that
 * anybody wants, and those that want more have the same for their weight. */
#include "model/divide.h"
#include "base/rng.h"
#include "support/test.h"

enum { MOST = 20, ROUNDS = 50000 };

static uint32_t draw(struct rng *r, struct claim *claims)
{
    uint32_t n = (uint32_t)rng_below(r, MOST + 1);
    for (uint32_t i = 0; i < n; i++) {
        double limit = rng_below(r, 4) ? 8000 * rng_uniform(r) : (double)rng_below(r, 3) * 1000;
        double weight = rng_below(r, 2)   ? 1
                        : rng_below(r, 2) ? 0.01 + rng_uniform(r)
                                          : exp(20 * rng_uniform(r) - 10);
        claims[i] = (struct claim){limit, weight, -1};
    }
    return n;
}

static void check(const struct claim *claims, uint32_t n, double capacity)
{
    double sum = 0, wanted = 0, eps = 1e-9 * (capacity + 1);
    for (uint32_t i = 0; i < n; i++) {
        sum += claims[i].got;
        wanted += claims[i].limit;
        assert_true(claims[i].got >= 0);
        assert_true(claims[i].got <= claims[i].limit + eps);
    }
    assert_near(sum, wanted < capacity ? wanted : capacity, eps);
    for (uint32_t i = 0; i < n; i++) {
        if (claims[i].got >= claims[i].limit - eps)
            continue;
        for (uint32_t k = 0; k < n; k++)
            assert_true(claims[k].got / claims[k].weight <=
                        claims[i].got / claims[i].weight * (1 + 1e-6) + eps / claims[k].weight);
    }
}

static void test_random(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 1);
    for (int round = 0; round < ROUNDS; round++) {
        struct claim claims[MOST], other[MOST];
        uint32_t n = draw(&r, claims);
        double capacity = rng_below(&r, 10) ? 16000 * rng_uniform(&r) : 0;
        for (uint32_t i = 0; i < n; i++)
            other[n - 1 - i] = claims[i];
        divide_cpus(capacity, claims, n);
        check(claims, n, capacity);
        divide_cpus(capacity, other, n); /* the order does not matter */
        for (uint32_t i = 0; i < n; i++)
            assert_near(claims[i].got, other[n - 1 - i].got, 1e-6 * (capacity + 1));
    }
}

static const struct CMUnitTest tests[] = {TEST(test_random)};

int main(void)
{
    return RUN(tests);
}
