/* Division of time: known optima, feasibility, and a bound from the prices. */
#include <math.h>

#include "base/rng.h"
#include "policy/allocate/timeshare.h"
#include "support/test.h"

/* Whether shares are possible. */
static void check_possible(const struct timeshare *p, const double *x)
{
    for (unsigned k = 0; k < p->pools; k++) {
        double used = 0;
        for (uint32_t i = 0; i < p->jobs; i++)
            used += p->units[i] * x[i * p->pools + k];
        assert_true(used <= p->size[k] * (1 + 1e-9));
    }
    for (uint32_t i = 0; i < p->jobs; i++) {
        double sum = 0;
        for (unsigned k = 0; k < p->pools; k++) {
            assert_true(x[i * p->pools + k] >= 0);
            if (p->rate[i * p->pools + k] == 0)
                assert_true(x[i * p->pools + k] == 0);
            sum += x[i * p->pools + k];
        }
        assert_true(sum <= 1 + 1e-9);
    }
}

/* Equal jobs on one pool share it equally; nobody runs more than all the time. */
static void test_one_pool(void **state)
{
    struct arena a = {0};
    double size = 4, units[3] = {1, 2, 4}, rate[3] = {1, 1, 1}, need[3] = {1, 1, 1}, x[3];
    struct timeshare p = {3, 1, &size, units, rate};
    (void)state;
    double level = timeshare_fair(&p, need, &a, x);
    assert_near(level, 4.0 / 7, 1e-5);
    check_possible(&p, x);
    p.jobs = 1;
    assert_near(timeshare_fair(&p, need, &a, x), 1, 1e-5);
    arena_done(&a);
}

/* The example of Gavel's paper, section 2.1: two types, the first job gains more from the fast one.
 */
static void test_two_pools(void **state)
{
    struct arena a = {0};
    double size[2] = {1, 1}, units[2] = {1, 1}, rate[4] = {4, 1, 2, 1}, need[2] = {1, 1}, x[4];
    struct timeshare p = {2, 2, size, units, rate};
    (void)state;
    /* With share f of the fast type for the first job: 4f + (1-f) = 2(1-f) + f, so f = 1/4. */
    assert_near(timeshare_fair(&p, need, &a, x), 1.75, 1e-5);
    assert_near(x[0], 0.25, 1e-3);
    check_possible(&p, x);
    assert_near(timeshare_sum(&p, &a, x), 5, 1e-5);
    assert_near(x[0], 1, 1e-3);
    check_possible(&p, x);
    arena_done(&a);
}

/* A pool of size 0 and jobs that do not run everywhere. */
static void test_empty_pool(void **state)
{
    struct arena a = {0};
    double size[3] = {0, 2, 2}, units[2] = {1, 2}, rate[6] = {5, 0, 1, 3, 2, 0}, need[2] = {1, 4};
    double x[6];
    struct timeshare p = {2, 3, size, units, rate};
    (void)state;
    assert_near(timeshare_fair(&p, need, &a, x), 0.5, 1e-5);
    assert_near(timeshare_sum(&p, &a, x), 3, 1e-5);
    arena_done(&a);
}

/* Jobs that are alike count as often as they are there: with 300 of three kinds the level and the
 * shares are those of a problem in which no two are quite alike. */
static void test_alike(void **state)
{
    enum { JOBS = 300, POOLS = 2 };
    struct arena a = {0};
    double size[POOLS] = {40, 60}, units[JOBS], rate[JOBS * POOLS], need[JOBS], level[2];
    static double x[2][JOBS * POOLS];
    (void)state;
    for (int differ = 0; differ < 2; differ++) {
        for (uint32_t i = 0; i < JOBS; i++) {
            units[i] = 1 + i % 3;
            need[i] = 1 + differ * 1e-9 * i;
            rate[i * POOLS] = 1 + i % 3;
            rate[i * POOLS + 1] = i % 3 == 2 ? 0 : 1;
        }
        struct timeshare p = {JOBS, POOLS, size, units, rate};
        level[differ] = timeshare_fair(&p, need, &a, x[differ]);
        check_possible(&p, x[differ]);
    }
    assert_near(level[0] / level[1], 1, 1e-5);
    for (uint32_t i = 0; i < JOBS * POOLS; i++)
        assert_near(x[0][i], x[1][i], 1e-4);
    arena_done(&a);
}

/* Of random problems the shares are possible, and no job gains less than the level. */
static void test_random(void **state)
{
    struct arena a = {0};
    struct rng rng;
    (void)state;
    rng_init(&rng, 7);
    for (int round = 0; round < 200; round++) {
        uint32_t m = 1 + (uint32_t)rng_below(&rng, 60);
        unsigned k = 1 + (unsigned)rng_below(&rng, 4);
        double size[4], units[60], rate[240], need[60], x[240];
        for (unsigned p = 0; p < k; p++)
            size[p] = (double)(1 + rng_below(&rng, 32));
        for (uint32_t i = 0; i < m; i++) {
            units[i] = (double)(1 << rng_below(&rng, 4));
            need[i] = exp(rng_normal(&rng));
            for (unsigned p = 0; p < k; p++)
                rate[i * k + p] = p && rng_uniform(&rng) < 0.2 ? 0 : exp(rng_normal(&rng));
        }
        struct timeshare t = {m, k, size, units, rate};
        double level = timeshare_fair(&t, need, &a, x), least = INFINITY;
        check_possible(&t, x);
        for (uint32_t i = 0; i < m; i++) {
            double gain = 0;
            for (unsigned p = 0; p < k; p++)
                gain += rate[i * k + p] * x[i * k + p];
            least = fmin(least, gain / need[i]);
        }
        assert_near(least / level, 1, 1e-5);
        check_possible(&t, (timeshare_sum(&t, &a, x), x));
        arena_reset(&a);
    }
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(test_one_pool), TEST(test_two_pools), TEST(test_empty_pool),
    TEST(test_alike),    TEST(test_random),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
