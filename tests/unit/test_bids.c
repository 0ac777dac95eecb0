/* Tests of policy/bids against a plain search for the best one. */
#include "policy/bids.h"

#include "base/rng.h"
#include "support/test.h"

static void test_ties(void **state)
{
    (void)state;
    struct arena a = {0};
    struct bids b;
    bids_init(&b, 5, &a);
    static const struct bid pushed[] = {{1, 4}, {2, 3}, {2, 1}, {1, 0}, {2, 2}};
    static const uint32_t order[] = {1, 2, 3, 0, 4};
    for (size_t i = 0; i < COUNT_OF(pushed); i++)
        bids_push(&b, pushed[i].key, pushed[i].at);
    for (size_t i = 0; i < COUNT_OF(order); i++) {
        assert_int_equal(bids_top(&b).at, order[i]);
        bids_pop(&b);
    }
    assert_int_equal(b.n, 0);
    arena_done(&a);
}

/* The index of the best bid among those that are in. */
static uint32_t best_of(const double *key, uint32_t n)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < n; i++)
        if (!isnan(key[i]) && (best == UINT32_MAX || key[i] > key[best]))
            best = i;
    return best;
}

static void test_random(void **state)
{
    (void)state;
    enum { N = 60, ROUNDS = 20000 };
    struct arena a = {0};
    struct bids b;
    struct rng r;
    double key[N];
    uint32_t in = 0;
    rng_init(&r, 7);
    bids_init(&b, N, &a);
    for (uint32_t i = 0; i < N; i++)
        key[i] = NAN;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = (uint32_t)rng_below(&r, N);
        if (isnan(key[i])) {
            key[i] = (double)rng_below(&r, 10);
            bids_push(&b, key[i], i);
            in++;
        } else {
            uint32_t best = best_of(key, N);
            assert_int_equal(bids_top(&b).at, best);
            assert_near(bids_top(&b).key, key[best], 0);
            if (rng_below(&r, 2)) {
                key[best] = (double)rng_below(&r, 10);
                bids_replace(&b, key[best]);
            } else {
                key[best] = NAN;
                bids_pop(&b);
                in--;
            }
        }
        assert_int_equal(b.n, in);
    }
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {TEST(test_ties), TEST(test_random)};

int main(void)
{
    return RUN(tests);
}
