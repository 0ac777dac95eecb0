/* Tests of model/speed: tables with holes, fractions, the fitted forms. */
#include "model/speed.h"

#include "base/rng.h"
#include "support/test.h"

static const struct speed linear = {NULL, NULL, 0, true};

static void test_linear(void **state)
{
    (void)state;
    assert_near(speed_at(&linear, 0), 0, 0);
    assert_near(speed_at(&linear, -5), 0, 0);
    assert_near(speed_at(&linear, 500), 0.5, 0);
    assert_near(speed_at(&linear, 7 * UNIT), 7, 0);
    assert_int_equal(speed_next(&linear, 0, 4 * UNIT), UNIT);
    assert_int_equal(speed_next(&linear, 500, 4 * UNIT), UNIT);
    assert_int_equal(speed_next(&linear, 3500, 4 * UNIT), 4 * UNIT);
    assert_int_equal(speed_next(&linear, 4 * UNIT, 4 * UNIT), 0);
    assert_int_equal(speed_next(&linear, 5 * UNIT, 4 * UNIT), 0);
    assert_int_equal(speed_floor(&linear, 1234), 1234);
    assert_int_equal(speed_best(&linear, 8 * UNIT), 8 * UNIT);
}

static void test_table(void **state)
{
    (void)state;
    struct arena a = {0};
    const double speeds[] = {1, 1.8, 2.4, 2.8};
    struct speed s = speed_table(&a, speeds, 4);
    assert_true(s.concave);
    assert_int_equal(s.len, 4);
    assert_near(speed_at(&s, UNIT), 1, 0);
    assert_near(speed_at(&s, 4 * UNIT), 2.8, 0);
    assert_near(speed_at(&s, 100 * UNIT), 2.8, 0);
    assert_near(speed_at(&s, 4500), 2.8, 0);
    assert_near(speed_at(&s, 250), 0.25, 1e-15);
    assert_near(speed_at(&s, 1500), 1.4, 1e-15);
    assert_int_equal(speed_next(&s, 0, 4 * UNIT), UNIT);
    assert_int_equal(speed_next(&s, 4 * UNIT, 8 * UNIT), 0);
    assert_int_equal(speed_next(&s, 2 * UNIT, 2500), 2500);
    assert_int_equal(speed_next(&s, 2500, 2500), 0);
    assert_int_equal(speed_next(&s, 0, 500), 500);
    assert_int_equal(speed_floor(&s, 2500), 2500);
    assert_int_equal(speed_floor(&s, 500), 500);
    assert_int_equal(speed_floor(&s, 9 * UNIT), 4 * UNIT);
    assert_int_equal(speed_best(&s, 3 * UNIT), 3 * UNIT);
    arena_done(&a);
}

/* A job that runs on 2, 4 and 8 units only. */
static void test_holes(void **state)
{
    (void)state;
    struct arena a = {0};
    const double speeds[] = {NAN, 2, 0, 3.5, -1, INFINITY, NAN, 6, NAN};
    struct speed s = speed_table(&a, speeds, 9);
    static const int floors[] = {0, 0, 2, 2, 4, 4, 4, 4, 8, 8};
    static const double at[] = {0, 0, 2, 2, 3.5, 3.5, 3.5, 3.5, 6, 6};
    static const int next[] = {2, 2, 4, 4, 8, 8, 8, 8, 0, 0};
    for (int k = 0; k < 10; k++) {
        assert_near(speed_at(&s, k * UNIT), at[k], 0);
        assert_int_equal(speed_floor(&s, k * UNIT), floors[k] * UNIT);
        assert_int_equal(speed_next(&s, k * UNIT, 100 * UNIT), next[k] * UNIT);
    }
    /* A fraction beside a hole is as good as the size below it. */
    assert_near(speed_at(&s, 2500), 2, 0);
    assert_int_equal(speed_floor(&s, 2500), 2 * UNIT);
    assert_int_equal(speed_floor(&s, 500), 0);
    assert_near(speed_at(&s, 500), 0, 0);
    assert_int_equal(speed_next(&s, 0, UNIT), 0);
    assert_int_equal(speed_best(&s, 7 * UNIT), 4 * UNIT);
    assert_int_equal(speed_best(&s, UNIT), 0);
    arena_done(&a);
}

static void test_concave(void **state)
{
    (void)state;
    struct arena a = {0};
    const double bent[] = {1, 1.1, 3}, straight[] = {1, 2, 3}, holes[] = {1, NAN, 2, NAN, NAN, 2.3},
                 falling[] = {1, 2, 1.5};
    assert_false(speed_table(&a, bent, 3).concave);
    assert_true(speed_table(&a, straight, 3).concave);
    assert_true(speed_table(&a, holes, 6).concave);
    assert_true(speed_table(&a, falling, 3).concave);
    arena_done(&a);
}

static void test_best_is_the_smallest_of_the_fastest(void **state)
{
    (void)state;
    struct arena a = {0};
    const double speeds[] = {1, 1.9, 2.5, 2.5, 2.2, 2.6};
    struct speed s = speed_table(&a, speeds, 6);
    assert_int_equal(speed_best(&s, 4 * UNIT), 3 * UNIT);
    assert_int_equal(speed_best(&s, 5 * UNIT), 3 * UNIT);
    assert_int_equal(speed_best(&s, 6 * UNIT), 6 * UNIT);
    assert_int_equal(speed_best(&s, 99 * UNIT), 6 * UNIT);
    arena_done(&a);
}

static void test_fitted(void **state)
{
    (void)state;
    struct arena a = {0};
    struct speed s = speed_fitted(&a, 0.1, 1, 0.02, 16);
    assert_near(speed_at(&s, UNIT), 1, 1e-15);
    assert_near(speed_at(&s, 2 * UNIT), 1.1 / (0.1 + 0.5 + 0.02), 1e-12);
    assert_near(speed_at(&s, 16 * UNIT), 1.1 / (0.1 + 1.0 / 16 + 0.3), 1e-12);
    assert_int_equal(speed_best(&s, 16 * UNIT), 7 * UNIT); /* b/n + c n is least at sqrt(b/c) */
    struct speed prior = speed_prior(&a, 64);
    assert_near(speed_at(&prior, UNIT), 1, 0);
    assert_near(speed_at(&prior, 21 * UNIT), 10.5, 1e-12);
    assert_true(prior.concave);
    assert_int_equal(speed_best(&prior, 64 * UNIT), 64 * UNIT);
    arena_done(&a);
}

static struct speed random_table(struct arena *a, struct rng *r, uint32_t n)
{
    double speeds[24];
    for (uint32_t k = 0; k < n; k++)
        speeds[k] = rng_below(r, 3) ? 0.1 + rng_uniform(r) * 10 : NAN;
    speeds[rng_below(r, n)] = 1;
    return speed_table(a, speeds, n);
}

/* next, floor and best against a search over every size. */
static void test_random_tables(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rng r;
    rng_init(&r, 7);
    for (int round = 0; round < 500; round++) {
        uint32_t n = 1 + (uint32_t)rng_below(&r, 24);
        struct speed s = random_table(&a, &r, n);
        units_t best = 0;
        for (units_t k = 0, last = 0; k <= n; k++) {
            bool admissible = k && s.next[k - 1] == k;
            last = admissible ? k : last;
            assert_int_equal(speed_floor(&s, k * UNIT), last * UNIT);
            units_t next = speed_next(&s, k * UNIT, 100 * UNIT) / UNIT;
            assert_true(next == 0 || next > k);
            for (units_t between = k + 1; between < (next ? next : n + 1); between++)
                assert_true(s.next[between - 1] != between);
            if (admissible && speed_at(&s, k * UNIT) > speed_at(&s, best * UNIT))
                best = k;
            assert_int_equal(speed_best(&s, k * UNIT), best * UNIT);
        }
        arena_reset(&a);
    }
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(test_linear),
    TEST(test_table),
    TEST(test_holes),
    TEST(test_concave),
    TEST(test_best_is_the_smallest_of_the_fastest),
    TEST(test_fitted),
    TEST(test_random_tables),
};

int main(void)
{
    return RUN(tests);
}
