/* Tests of the market of the next rounds: worked examples, and what holds of any plan. */
#include "policy/allocate/market.h"

#include <math.h>

#include "base/rng.h"
#include "support/test.h"

enum { MOST = 40 };

static void solve(struct market *m)
{
    struct market_part parts[MOST * MARKET_PARTS];
    m->parts = parts;
    market_solve(m);
    m->parts = NULL;
}

static double sold(const struct market *m)
{
    double sum = 0;
    for (uint32_t i = 0; i < m->n; i++)
        sum += m->buyers[i].time * m->buyers[i].units;
    return sum;
}

/* Enough for all: everyone gets all that it has left. */
static void test_enough(void **state)
{
    (void)state;
    struct buyer b[] = {{.left = 30, .total = 50, .units = 1, .weight = 1},
                        {.left = 40, .total = 40, .units = 2, .weight = 1}};
    struct market m = {.buyers = b, .n = 2, .units = 4, .length = 100, .rounds = 10, .k = 0.001};
    solve(&m);
    assert_near(b[0].time, 30, 1e-6);
    assert_near(b[1].time, 40, 1e-6);
}

/* Where only the end of the last job counts, the longest gets most; where it does not count, the
 * one without progress does. */
static void test_longest_or_fair(void **state)
{
    (void)state;
    for (int early = 0; early < 2; early++) {
        struct buyer b[] = {{.left = 1000, .total = 2000, .units = 1, .weight = 1},
                            {.left = 500, .total = 500, .units = 1, .weight = 1}};
        struct market m = {.buyers = b, .n = 2, .units = 1, .length = 100, .rounds = 10};
        m.k = early ? 1 : 0;
        solve(&m);
        assert_near(b[early ? 0 : 1].time, 100, 1);
        assert_near(b[early ? 1 : 0].time, 0, 1);
    }
}

static void test_weight(void **state)
{
    (void)state;
    struct buyer b[] = {{.left = 500, .total = 500, .units = 1, .weight = 1},
                        {.left = 500, .total = 500, .units = 1, .weight = 2}};
    struct market m = {.buyers = b, .n = 2, .units = 1, .length = 100, .rounds = 10};
    solve(&m);
    assert_near(b[1].time, 100, 1);
}

/* Two that are alike get the same, however little there is. */
static void test_alike(void **state)
{
    (void)state;
    struct buyer b[] = {{.left = 500, .total = 500, .units = 1, .weight = 1},
                        {.left = 500, .total = 500, .units = 1, .weight = 1}};
    struct market m = {.buyers = b, .n = 2, .units = 1, .length = 100, .rounds = 10};
    solve(&m);
    assert_near(b[0].time, 50, 1e-9);
    assert_near(b[1].time, 50, 1e-9);
}

/* Nobody gets more than it can use or less than it needs, and no more is sold than there is. */
static void test_any_plan(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3);
    for (int round = 0; round < 500; round++) {
        struct buyer b[MOST] = {0};
        struct market m = {.buyers = b,
                           .n = 1 + (uint32_t)rng_below(&r, MOST),
                           .length = 100,
                           .rounds = 10,
                           .units = 8,
                           .k = round % 3 ? 0.001 : 0};
        double needed = 0;
        for (uint32_t i = 0; i < m.n; i++) {
            double total = 1 + 1000 * rng_uniform(&r);
            b[i] = (struct buyer){.left = total * rng_uniform(&r) + 1e-3,
                                  .total = total + 1e-3,
                                  .units = 1 + (double)rng_below(&r, 4),
                                  .weight = exp(5 * rng_uniform(&r))};
            double needs = fmin(b[i].left, m.length) * rng_uniform(&r);
            if (needed + needs * b[i].units <= m.units * m.length) {
                b[i].needs = needs;
                needed += needs * b[i].units;
            }
        }
        solve(&m);
        assert_true(sold(&m) <= m.units * m.length * (1 + 1e-9));
        for (uint32_t i = 0; i < m.n; i++) {
            assert_true(b[i].time >= b[i].needs - 1e-9);
            assert_true(b[i].time <= fmin(b[i].left, m.length) + 1e-9);
        }
    }
}

static const struct CMUnitTest tests[] = {TEST(test_enough), TEST(test_longest_or_fair),
                                          TEST(test_weight), TEST(test_alike), TEST(test_any_plan)};

int main(void)
{
    return RUN(tests);
}
