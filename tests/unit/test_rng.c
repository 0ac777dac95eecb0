/* Tests of base/rng: the generators' published first numbers, ranges, moments. */
#include "base/rng.h"

#include "support/test.h"

/* Reference values of splitmix64 for the seed 1234567. */
static void test_splitmix(void **state)
{
    (void)state;
    static const uint64_t want[] = {6457827717110365317ULL, 3203168211198807973ULL,
                                    9817491932198370423ULL, 4593380528125082431ULL};
    struct rng r;
    rng_init(&r, 1234567);
    for (int i = 0; i < 4; i++)
        assert_true(r.s[i] == want[i]);
    assert_true(rng_mix(1234567) == want[0]);
}

/* Reference values of xoshiro256** for the state 1, 2, 3, 4. */
static void test_xoshiro(void **state)
{
    (void)state;
    static const uint64_t want[] = {11520ULL,
                                    0ULL,
                                    1509978240ULL,
                                    1215971899390074240ULL,
                                    1216172134540287360ULL,
                                    607988272756665600ULL};
    struct rng r = {{1, 2, 3, 4}};
    for (size_t i = 0; i < COUNT_OF(want); i++)
        assert_true(rng_next(&r) == want[i]);
}

static void test_seeds(void **state)
{
    (void)state;
    struct rng a, b, c;
    rng_init(&a, 42);
    rng_init(&b, 42);
    rng_init(&c, 43);
    int same = 0;
    for (int i = 0; i < 1000; i++) {
        uint64_t x = rng_next(&a);
        assert_true(x == rng_next(&b));
        same += x == rng_next(&c);
    }
    assert_int_equal(same, 0);
    rng_init(&a, 0); /* a state of zeros would stay there */
    assert_true(rng_next(&a) != 0 || rng_next(&a) != 0);
}

static void test_uniform(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct rng r;
    double sum = 0, low = 1, high = 0;
    rng_init(&r, 1);
    for (int i = 0; i < N; i++) {
        double u = rng_uniform(&r);
        assert_true(u >= 0 && u < 1);
        sum += u;
        low = fmin(low, u);
        high = fmax(high, u);
    }
    assert_near(sum / N, 0.5, 0.005);
    assert_near(low, 0, 1e-3);
    assert_near(high, 1, 1e-3);
}

static void test_below(void **state)
{
    (void)state;
    struct rng r;
    int seen[7] = {0};
    rng_init(&r, 2);
    for (int i = 0; i < 70000; i++)
        seen[rng_below(&r, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_near(seen[i], 10000, 400);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(rng_below(&r, 1), 0);
        assert_true(rng_below(&r, UINT64_MAX) < UINT64_MAX);
        assert_true(rng_below(&r, (1ULL << 63) + 1) <= 1ULL << 63);
    }
}

static void test_exponential(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct rng r;
    double sum = 0, squares = 0;
    rng_init(&r, 3);
    for (int i = 0; i < N; i++) {
        double x = rng_exponential(&r, 5);
        assert_true(x >= 0 && isfinite(x));
        sum += x;
        squares += x * x;
    }
    assert_near(sum / N, 5, 0.1);
    assert_near(squares / N, 50, 2);
}

static void test_normal(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct rng r;
    double sum = 0, squares = 0, cubes = 0;
    rng_init(&r, 4);
    for (int i = 0; i < N; i++) {
        double x = rng_normal(&r);
        assert_true(isfinite(x));
        sum += x;
        squares += x * x;
        cubes += x * x * x;
    }
    assert_near(sum / N, 0, 0.02);
    assert_near(squares / N, 1, 0.02);
    assert_near(cubes / N, 0, 0.06);
}

static const struct CMUnitTest tests[] = {
    TEST(test_splitmix), TEST(test_xoshiro),     TEST(test_seeds),  TEST(test_uniform),
    TEST(test_below),    TEST(test_exponential), TEST(test_normal),
};

int main(void)
{
    return RUN(tests);
}
