/* Tests of model/speed_fit: known curves found again, outliers, priors, how often
 * the band holds the truth, and input that says little or nothing. */
#include "model/speed_fit.h"

#include "base/rng.h"
#include "support/test.h"

static const struct speed_shape truth = {0.2, 0.8, 0.01};

static double step_at(const struct speed_shape *s, double n)
{
    return s->fixed + s->parallel / n + s->comm * (n - 1);
}

/* `times` steps on each of the sizes (0 ends the list), a second apart. */
static void see(struct speed_seen *seen, const struct speed_shape *s, const uint32_t *sizes,
                int times, double noise, struct rng *r)
{
    usec_t at = 0;
    for (; *sizes; sizes++)
        for (int i = 0; i < times; i++) {
            double factor = noise > 0 ? exp(noise * rng_normal(r)) : 1;
            at += USEC_PER_SEC;
            speed_seen_add(seen, at, *sizes * UNIT, 1e6 * step_at(s, *sizes) * factor);
        }
}

static const uint32_t one_size[] = {1, 0}, two_sizes[] = {1, 2, 0}, four_sizes[] = {1, 2, 4, 8, 0};

static void test_exact(void **state)
{
    (void)state;
    static const struct speed_shape shapes[] = {
        {0.2, 0.8, 0.01}, {0.05, 0.95, 0}, {0.6, 0.4, 0.002}, {0, 1, 0.02}, {0.3, 0.7, 0}};
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        struct speed_seen seen;
        struct speed_fit fit;
        speed_seen_init(&seen, 0);
        see(&seen, &shapes[i], four_sizes, 500, 0, NULL);
        speed_fit(&seen, 0, NULL, &fit);
        assert_int_equal(fit.sizes, 4);
        assert_near(fit.step.fixed / 1e6, shapes[i].fixed, 0.01);
        assert_near(fit.step.parallel / 1e6, shapes[i].parallel, 0.01);
        assert_near(fit.step.comm / 1e6, shapes[i].comm, 0.001);
    }
}

static void test_noisy(void **state)
{
    (void)state;
    double error = 0;
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rng r;
        struct speed_seen seen;
        struct speed_fit fit;
        rng_init(&r, seed);
        speed_seen_init(&seen, 0);
        see(&seen, &truth, four_sizes, 100, 0.2, &r);
        speed_fit(&seen, 0, NULL, &fit);
        assert_near(fit.step.fixed / 1e6, truth.fixed, 0.15);
        assert_near(fit.step.parallel / 1e6, truth.parallel, 0.2);
        error += fabs(speed_fit_step(&fit, 6 * UNIT).mid / 1e6 / step_at(&truth, 6) - 1) / 100;
    }
    print_message(
        "# 100 steps on 1, 2, 4, 8 units, noise 20 %%: step(6) off by %.1f %% on average\n",
        100 * error);
    assert_true(error < 0.03);
}

/* A stall of a hundred times every seventh step, and a slow first one. */
static void test_outliers(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    for (uint32_t k = 1; k <= 4; k *= 2)
        for (int i = 0; i < 50; i++)
            speed_seen_add(&seen, i, k * UNIT,
                           1e6 * step_at(&truth, k) * (i % 7 == 0 ? 100.0 : 1.0));
    speed_fit(&seen, 0, NULL, &fit);
    for (uint32_t k = 1; k <= 4; k++)
        assert_near(speed_fit_step(&fit, k * UNIT).mid / 1e6 / step_at(&truth, k), 1, 0.02);
}

/* A disturbance of two blocks counts little; a lasting change is followed. */
static void test_changes(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    for (int i = 0; i < 100; i++)
        speed_seen_add(&seen, i, UNIT, 1e6);
    for (int i = 0; i < 2 * SPEED_BLOCK; i++)
        speed_seen_add(&seen, 100, UNIT, 50e6);
    speed_fit(&seen, 100, NULL, &fit);
    assert_near(speed_fit_step(&fit, UNIT).mid, 1e6, 0.06e6);
    for (int i = 0; i < SPEED_BLOCK; i++)
        speed_seen_add(&seen, 100, UNIT, 50e6);
    speed_fit(&seen, 100, NULL, &fit);
    assert_near(speed_fit_step(&fit, UNIT).mid, 50e6, 1e3);
}

static void test_recency(void **state)
{
    (void)state;
    struct speed_seen seen, kept;
    struct speed_fit fit;
    usec_t hour = 3600 * USEC_PER_SEC;
    speed_seen_init(&seen, hour);
    speed_seen_init(&kept, 0);
    for (int i = 0; i < 200; i++) {
        speed_seen_add(&seen, i < 100 ? 0 : 5 * hour, UNIT, i < 100 ? 1e6 : 1.3e6);
        speed_seen_add(&kept, i < 100 ? 0 : 5 * hour, UNIT, i < 100 ? 1e6 : 1.3e6);
    }
    speed_fit(&seen, 5 * hour, NULL, &fit);
    assert_near(speed_fit_step(&fit, UNIT).mid, 1.3e6, 0.02e6);
    speed_fit(&kept, 5 * hour, NULL, &fit);
    assert_near(speed_fit_step(&fit, UNIT).mid, sqrt(1.3) * 1e6, 0.02e6);

    /* The older what was seen, the wider the band. */
    double width = 0;
    for (int i = 0; i < 40; i += 10) {
        speed_fit(&seen, (5 + i) * hour, NULL, &fit);
        struct range r = speed_fit_step(&fit, UNIT);
        assert_true(r.high / r.low > width);
        width = r.high / r.low;
    }
}

/* The first steps take three times as long and are in the mean at first. They must not make the
 * steps after them look short: every hundredth takes ten more, and so does the rest. */
static void test_rest_after_slow_steps(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct range step;
    speed_seen_init(&seen, 0);
    for (int i = 0; i < 50; i++)
        speed_seen_add(&seen, i, UNIT, i < 10 ? 3e6 : 1e6);
    for (int i = 50; i < 250; i++)
        speed_seen_add(&seen, i, 2 * UNIT, i % 100 == 99 ? 6e6 : 0.5e6);
    assert_true(speed_seen_step(&seen, 250, 2 * UNIT, &step));
    struct range rest = speed_seen_rest(&seen, &step, 1000);
    assert_float_equal(rest.mid / 1e6, 1000 * 0.5 * 1.1, 15);
}

/* Every tenth step takes ten more: the median of steps does not see it, the time left must. */
static void test_rest_with_pauses(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct range step;
    speed_seen_init(&seen, 0);
    for (int i = 0; i < 500; i++)
        speed_seen_add(&seen, i, UNIT, i % 10 ? 1e6 : 11e6);
    assert_true(speed_seen_step(&seen, 500, UNIT, &step));
    assert_float_equal(step.mid / 1e6, 1, 0.01);
    struct range rest = speed_seen_rest(&seen, &step, 100);
    assert_float_equal(rest.mid / 1e6, 200, 10);
    assert_true(rest.low < 200e6 && rest.high > 200e6 && rest.low > 100e6);
    rest = speed_seen_rest(&seen, &step, 0);
    assert_true(rest.low == 0 && rest.mid == 0 && rest.high == 0);
    speed_seen_init(&seen, 0); /* nothing was compared yet */
    rest = speed_seen_rest(&seen, &step, 100);
    assert_float_equal(rest.mid / 1e6, 100, 1);
    assert_true(rest.low > 0 && isfinite(rest.high));
}

static void test_nothing_seen(void **state)
{
    (void)state;
    struct arena a = {0};
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    speed_fit(&seen, 0, NULL, &fit);
    struct speed s = speed_fit_curve(&fit, &a, 1, 16), prior = speed_prior(&a, 16);
    for (uint32_t k = 1; k <= 16; k++)
        assert_near(s.at[k], prior.at[k], 1e-12);
    assert_true(isinf(speed_fit_step(&fit, UNIT).mid));
    speed_fit(&seen, 0, &truth, &fit);
    s = speed_fit_curve(&fit, &a, 1, 8);
    assert_near(s.at[4], step_at(&truth, 1) / step_at(&truth, 4), 1e-12);
    arena_done(&a);
}

/* From one size the shape is the prior's, from whatever size that is. */
static void test_one_size(void **state)
{
    (void)state;
    for (uint32_t size = 1; size <= 8; size++) {
        struct speed_seen seen;
        struct speed_fit fit;
        uint32_t sizes[] = {size, 0};
        speed_seen_init(&seen, 0);
        see(&seen, &truth, sizes, 1, 0, NULL);
        speed_fit(&seen, 0, &(struct speed_shape){20, 80, 1}, &fit);
        assert_near(fit.step.fixed / 1e6, truth.fixed, 1e-6);
        assert_near(fit.step.parallel / 1e6, truth.parallel, 1e-6);
        assert_near(fit.step.comm / 1e6, truth.comm, 1e-6);
    }
}

/* A wrong prior of the category loses against data, and the more the more. */
static void test_prior_gives_way(void **state)
{
    (void)state;
    static const struct speed_shape wrong = {0.7, 0.3, 0};
    struct speed_fit fit;
    double last = INFINITY;
    for (int times = 1; times <= 1000; times *= 10) {
        struct speed_seen seen;
        speed_seen_init(&seen, 0);
        see(&seen, &truth, four_sizes, times, 0, NULL);
        speed_fit(&seen, 0, &wrong, &fit);
        double off = fabs(fit.step.fixed / 1e6 - truth.fixed);
        assert_true(off < last);
        last = off;
    }
    assert_true(last < 0.05);
    assert_near(speed_fit_step(&fit, 6 * UNIT).mid / 1e6 / step_at(&truth, 6), 1, 0.03);
}

/* Random curves, sizes and noise: S(1) = 1, S grows up to the cap, no more than
 * linearly, and with ever smaller gains. */
static void test_curve_properties(void **state)
{
    (void)state;
    struct arena a = {0};
    struct rng r;
    uint32_t capped = 0;
    rng_init(&r, 3);
    for (int round = 0; round < 2000; round++) {
        struct speed_seen seen;
        struct speed_fit fit;
        struct speed_shape s = {rng_uniform(&r), rng_uniform(&r), 0.1 * rng_uniform(&r)};
        uint32_t sizes[4] = {0}, n = 1 + (uint32_t)rng_below(&r, 3);
        for (uint32_t i = 0; i < n; i++)
            sizes[i] = 1 + (uint32_t)rng_below(&r, 32);
        speed_seen_init(&seen, 0);
        see(&seen, &s, sizes, 1 + (int)rng_below(&r, 20), 0.5, &r);
        speed_fit(&seen, 0, NULL, &fit);
        assert_true(fit.step.fixed >= 0 && fit.step.parallel >= 0 && fit.step.comm >= 0);
        struct speed c = speed_fit_curve(&fit, &a, 1, 32);
        assert_int_equal(c.len, speed_fit_peak(&fit, 32));
        assert_near(c.at[1], 1, 1e-12);
        assert_true(c.concave);
        for (uint32_t k = 2; k <= c.len; k++)
            assert_true(c.at[k] > c.at[k - 1] && c.at[k] <= k * (1 + 1e-12));
        capped += c.len < 32;
        for (units_t units = 300; units <= 40 * UNIT; units += 700) {
            struct range b = speed_fit_step(&fit, units);
            assert_true(b.low > 0 && b.low <= b.mid && b.mid <= b.high && isfinite(b.high));
        }
        arena_reset(&a);
    }
    assert_in_range(capped, 200, 1900);
    arena_done(&a);
}

/* parallel / comm = 50: the fastest is between 7 and 8 units. */
static void test_cap(void **state)
{
    (void)state;
    struct arena a = {0};
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    see(&seen, &(struct speed_shape){0.1, 1, 0.02}, four_sizes, 500, 0, NULL);
    speed_fit(&seen, 0, NULL, &fit);
    assert_int_equal(speed_fit_peak(&fit, 64), 7);
    assert_int_equal(speed_fit_peak(&fit, 4), 4);
    assert_int_equal(speed_fit_curve(&fit, &a, 1, 64).len, 7);
    assert_int_equal(speed_fit_curve(&fit, &a, 3, 4).len, 4);
    /* What the job needs at least is in the table, with its true, lower speed. */
    struct speed s = speed_fit_curve(&fit, &a, 20, 64);
    assert_int_equal(s.len, 20);
    assert_true(s.at[20] < s.at[7]);

    /* A job that only slows down is never offered a second unit. */
    speed_seen_init(&seen, 0);
    see(&seen, &(struct speed_shape){0, 1e-9, 1}, (uint32_t[]){2, 4, 8, 0}, 50, 0, NULL);
    speed_fit(&seen, 0, NULL, &fit);
    s = speed_fit_curve(&fit, &a, 1, 64);
    assert_int_equal(s.len, 1);
    assert_near(s.at[1], 1, 1e-12);
    arena_done(&a);
}

/* Half a CPU takes twice the time of a whole one, and says the same. */
static void test_fractions(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct speed_fit fit;
    speed_seen_init(&seen, 0);
    for (int i = 0; i < 20; i++) {
        speed_seen_add(&seen, i, UNIT / 2, 2e6 * step_at(&truth, 1));
        speed_seen_add(&seen, i, 1300 + i % 2 * 100, 1e6 * step_at(&truth, 1.35));
        speed_seen_add(&seen, i, 2600, 1e6 * step_at(&truth, 2.6));
    }
    speed_fit(&seen, 0, NULL, &fit);
    assert_int_equal(fit.sizes, 2); /* 0.5, 1.3 and 1.4 share one */
    assert_near(speed_fit_step(&fit, UNIT / 4).mid, 4 * speed_fit_step(&fit, UNIT).mid, 1);
    assert_near(speed_fit_step(&fit, 2600).mid / 1e6, step_at(&truth, 2.6), 0.02);
}

static void test_many_sizes(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct speed_fit fit;
    uint32_t sizes[101] = {0};
    for (uint32_t i = 0; i < 100; i++)
        sizes[i] = i + 1;
    speed_seen_init(&seen, 0);
    see(&seen, &truth, sizes, 10, 0, NULL);
    speed_fit(&seen, 0, NULL, &fit);
    assert_int_equal(fit.sizes, SPEED_SIZES);
    assert_near(speed_fit_step(&fit, 90 * UNIT).mid / 1e6, step_at(&truth, 90), 0.02);
}

static void test_bad_input(void **state)
{
    (void)state;
    static const double bad[] = {0, -1, NAN, INFINITY, -INFINITY, 1e300, 1e-300};
    static const struct speed_shape shapes[] = {{NAN, 1, 0},       {-1, 2, 0},
                                                {0, 0, 1},         {1, 1, INFINITY},
                                                {1e308, 1e308, 0}, {1e-300, 0, 1e300}};
    struct speed_seen seen;
    struct speed_fit fit, plain;
    speed_seen_init(&seen, -5);
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        speed_seen_add(&seen, 0, UNIT, bad[i]);
    speed_seen_add(&seen, 0, 0, 1e6);
    speed_seen_add(&seen, 0, -UNIT, 1e6);
    speed_seen_add(&seen, 0, INT64_MAX, 1e6);
    speed_fit(&seen, 0, NULL, &fit);
    assert_int_equal(fit.sizes, 0);

    see(&seen, &truth, two_sizes, 7, 0, NULL);
    speed_seen_add(&seen, INT64_MIN, UNIT, 1e6);
    speed_seen_add(&seen, INT64_MAX, UNIT, 1e6);
    speed_fit(&seen, 0, NULL, &plain);
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        speed_fit(&seen, 0, &shapes[i], &fit);
        assert_near(fit.step.fixed, plain.step.fixed, 0);
        assert_near(fit.step.parallel, plain.step.parallel, 0);
    }
}

/* Step times from a nanosecond to 30,000 years at once, everything long ago. */
static void test_extremes(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 4);
    for (int round = 0; round < 2000; round++) {
        struct speed_seen seen;
        struct speed_fit fit;
        speed_seen_init(&seen, 1 + (usec_t)rng_below(&r, 1000));
        for (int i = 0; i < 40; i++)
            speed_seen_add(&seen, (usec_t)rng_below(&r, 1000000), (units_t)rng_below(&r, 64000),
                           pow(10, -3 + 21 * rng_uniform(&r)));
        speed_fit(&seen, USEC_LIMIT, NULL, &fit);
        assert_true(isfinite(fit.step.fixed + fit.step.parallel + fit.step.comm));
        assert_true(fit.step.fixed + fit.step.parallel > 0);
        struct range b = speed_fit_step(&fit, 3 * UNIT);
        assert_true(b.low >= 0 && b.low <= b.mid && b.mid <= b.high && isfinite(b.mid));
    }
}

/* The share of 400 random jobs whose true step time on n units lies in the band. */
static double coverage(const uint32_t *sizes, int times, double noise, units_t n)
{
    uint32_t inside = 0;
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct rng r;
        struct speed_seen seen;
        struct speed_fit fit;
        rng_init(&r, seed);
        double fixed = 0.5 * rng_uniform(&r);
        struct speed_shape s = {fixed, 1 - fixed, 0.03 * rng_uniform(&r)};
        speed_seen_init(&seen, 0);
        see(&seen, &s, sizes, times, noise, &r);
        speed_fit(&seen, 0, NULL, &fit);
        struct range b = speed_fit_step(&fit, n);
        double step = 1e6 * step_at(&s, (double)n / UNIT);
        inside += b.low <= step && step <= b.high;
    }
    return inside / 400.0;
}

static void test_band(void **state)
{
    (void)state;
    static const double noises[] = {0.1, 0.2};
    static const units_t sizes[] = {1, 3, 8, 12, 16};
    for (size_t i = 0; i < COUNT_OF(noises); i++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            double share = coverage(four_sizes, 30, noises[i], sizes[k] * UNIT);
            print_message("# 30 steps on 1, 2, 4, 8 units, noise %2.0f %%: step(%2d) in its band "
                          "%.0f %%\n",
                          100 * noises[i], (int)sizes[k], 100 * share);
            assert_true(share > 0.65 && share < 0.95);
        }
    double near = coverage(one_size, 30, 0.1, UNIT), far = coverage(one_size, 30, 0.1, 8 * UNIT);
    print_message("# seen on 1 unit alone: step(1) %.0f %%, step(8) %.0f %%\n", 100 * near,
                  100 * far);
    assert_true(near > 0.65 && near < 0.95 && far > 0.65);
}

/* Seconds on 1 to 4 GPUs of the published tables: Schedulearn's five models and
 * the speed-ups of Voda's four. From the first two or three, the fourth. */
static void test_published(void **state)
{
    (void)state;
    static const double tables[][4] = {
        {107, 69, 52.3, 45},
        {67, 51, 42, 37},
        {157, 89, 66, 54},
        {28.6, 24.3, 22.2, 21.5},
        {312.9, 250.4, 216.2, 194.6},
        {1, 1 / 1.785, 1 / 2.5, 1 / 3.125},
        {1, 1 / 1.857, 1 / 2.6, 1 / 3.25},
        {1, 1 / 1.842, 1 / 2.692, 1 / 3.5},
        {1, 1 / 1.657, 1 / 2.148, 1 / 2.521},
    };
    static const double bounds[] = {1, 0.2, 0.1};
    for (uint32_t known = 1; known <= 3; known++) {
        double sum = 0, worst = 0;
        for (size_t i = 0; i < COUNT_OF(tables); i++) {
            struct speed_seen seen;
            struct speed_fit fit;
            speed_seen_init(&seen, 0);
            for (uint32_t k = 1; k <= known; k++)
                for (int j = 0; j < 20; j++)
                    speed_seen_add(&seen, j, k * UNIT, 1e6 * tables[i][k - 1]);
            speed_fit(&seen, 0, NULL, &fit);
            double error = fabs(speed_fit_step(&fit, 4 * UNIT).mid / 1e6 / tables[i][3] - 1);
            sum += error;
            worst = fmax(worst, error);
        }
        print_message("# nine published models, seen on up to %u GPUs: step(4) off by %.1f %% on "
                      "average, %.1f %% at most\n",
                      known, 100 * sum / COUNT_OF(tables), 100 * worst);
        assert_true(worst < bounds[known - 1]);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_exact),
    TEST(test_noisy),
    TEST(test_outliers),
    TEST(test_changes),
    TEST(test_recency),
    TEST(test_nothing_seen),
    TEST(test_one_size),
    TEST(test_prior_gives_way),
    TEST(test_curve_properties),
    TEST(test_cap),
    TEST(test_fractions),
    TEST(test_many_sizes),
    TEST(test_bad_input),
    TEST(test_extremes),
    TEST(test_band),
    TEST(test_published),
    TEST(test_rest_with_pauses),
    TEST(test_rest_after_slow_steps),
};

int main(void)
{
    return RUN(tests);
}
