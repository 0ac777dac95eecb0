/* Tests of model/loss_fit and model/loss_bins: known curves found again from exact
 * and noisy samples, how often the band holds the truth, the curves of the
 * simulator from their first 30 %, and metrics that say little or nothing. */
#include "model/loss_fit.h"

#include "base/rng.h"
#include "model/loss_bins.h"
#include "support/test.h"

static void add(struct history *h, double step, double metric)
{
    usec_t at = h->last.at < 0 ? 0 : h->last.at + 1;
    history_add(h, &(struct sample){.at = at, .step = step, .metric = metric});
}

/* n samples of the curve up to step `to`. */
static void follow(struct history *h, const struct loss *l, int n, double to, double noise,
                   struct rng *r)
{
    history_init(h);
    for (int i = 1; i <= n; i++)
        add(h, to * i / n, loss_at(l, to * i / n) + (noise > 0 ? noise * rng_normal(r) : 0));
}

static const struct loss inverse = {LOSS_INVERSE, 0.004, 0.5, 0.3};
static const struct loss power = {LOSS_POWER, 3, 0.4, 0.2};
static const struct loss decay = {LOSS_DECAY, 2, 0.003, 0.1};

static void test_exact(void **state)
{
    (void)state;
    const struct loss *curves[] = {&inverse, &power, &decay};
    for (size_t i = 0; i < COUNT_OF(curves); i++) {
        struct history h;
        struct loss_fit fit;
        follow(&h, curves[i], 30, 1000, 0, NULL);
        assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
        assert_int_equal(fit.best.kind, curves[i]->kind);
        assert_near(fit.best.a / curves[i]->a, 1, 0.05);
        assert_near(fit.best.b / curves[i]->b, 1, 0.05);
        assert_near(fit.best.c, curves[i]->c, 0.02);
        double target = loss_at(curves[i], 1500);
        struct range r = loss_fit_reaches(&fit, target);
        assert_near(r.mid / 1500, 1, 0.02);
        assert_true(r.low <= r.mid && r.mid <= r.high);
        assert_near(loss_fit_metric(&fit, 1500), target, 0.01);
    }
}

/* The step at which the true curve gains less than a thousandth per epoch. */
static double true_settling(const struct loss *l, double from, double to, double epoch)
{
    double step = to;
    for (; step < 1e9; step *= 1.0001) {
        double e = loss_at(l, step), gain = e - loss_at(l, step + epoch);
        if (gain < 0.001 * fmax(e, loss_at(l, from) - e))
            break;
    }
    return step;
}

static void test_settles(void **state)
{
    (void)state;
    const struct loss *curves[] = {&inverse, &power, &decay};
    for (size_t i = 0; i < COUNT_OF(curves); i++) {
        struct history h;
        struct loss_fit fit;
        follow(&h, curves[i], 50, 1000, 0, NULL);
        assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
        struct range r = loss_fit_settles(&fit, 50, 0.001);
        assert_near(r.mid / true_settling(curves[i], 20, 1000, 50), 1, 0.03);
        assert_true(loss_fit_settles(&fit, 5, 0.001).mid <= r.mid);
    }
}

/* An accuracy is the mirror image of a loss, to the last digit. */
static void test_rising(void **state)
{
    (void)state;
    struct history h, mirrored;
    struct loss_fit a, b;
    struct rng r;
    rng_init(&r, 1);
    follow(&h, &inverse, 40, 1000, 0.01, &r);
    history_init(&mirrored);
    for (uint32_t i = 0; i < h.n; i++)
        add(&mirrored, h.at[i].step, -h.at[i].metric);
    assert_true(loss_fit(&h, METRIC_AUTO, NAN, &a));
    assert_true(loss_fit(&mirrored, METRIC_AUTO, NAN, &b));
    assert_false(a.rises);
    assert_true(b.rises);
    assert_near(loss_fit_metric(&b, 2000), -loss_fit_metric(&a, 2000), 0);
    assert_near(loss_fit_reaches(&b, -0.45).mid, loss_fit_reaches(&a, 0.45).mid, 0);
    assert_near(loss_fit_settles(&b, 10, 0.001).high, loss_fit_settles(&a, 10, 0.001).high, 0);

    /* Which way is forward when the user names a target. */
    assert_true(loss_fit(&h, METRIC_AUTO, 0.4, &a) && !a.rises);
    assert_true(loss_fit(&h, METRIC_AUTO, 5, &a) && a.rises);
    assert_true(loss_fit(&h, METRIC_RISES, 0.4, &a) && a.rises);
}

/* Spikes of a hundred times the loss, one sample in nine. */
static void test_outliers(void **state)
{
    (void)state;
    for (int n = 20; n <= 200; n += 60) {
        struct history h;
        struct loss_fit fit;
        history_init(&h);
        for (int i = 1; i <= n; i++)
            add(&h, 1000.0 * i / n, loss_at(&decay, 1000.0 * i / n) * (i % 9 == 4 ? 100 : 1));
        assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
        assert_near(loss_fit_reaches(&fit, loss_at(&decay, 1300)).mid / 1300, 1, 0.1);
    }
}

static void test_too_little(void **state)
{
    (void)state;
    struct history h;
    struct loss_fit fit = {.residual = 7};
    history_init(&h);
    assert_false(loss_fit(&h, METRIC_AUTO, NAN, &fit));
    for (int i = 0; i < LOSS_LEAST - 1; i++) {
        add(&h, i, 1.0 / (i + 1));
        add(&h, i, 1.0 / (i + 2)); /* the same step again is not another */
        add(&h, i + 0.5, NAN);
        add(&h, NAN, 1);
        add(&h, -1, 1);
        add(&h, 1e16, 1);
        add(&h, INFINITY, INFINITY);
        assert_false(loss_fit(&h, METRIC_AUTO, NAN, &fit));
    }
    assert_near(fit.residual, 7, 0);
    add(&h, LOSS_LEAST, 0.1);
    assert_true(loss_fit(&h, METRIC_AUTO, NAN, &fit));
    assert_near(fit.to, LOSS_LEAST, 0);
}

static void test_constant(void **state)
{
    (void)state;
    static const double levels[] = {0, 0.7, -3, 1e99};
    for (size_t i = 0; i < COUNT_OF(levels); i++) {
        struct history h;
        struct loss_fit fit;
        history_init(&h);
        for (int k = 1; k <= 300; k++)
            add(&h, k, levels[i]);
        for (enum metric_goal goal = METRIC_AUTO; goal <= METRIC_RISES; goal++) {
            assert_true(loss_fit(&h, goal, NAN, &fit));
            assert_near(loss_fit_settles(&fit, 10, 0.001).high, 300, 0);
            assert_near(loss_fit_metric(&fit, 1e6), levels[i], 0);
            assert_near(loss_fit_reaches(&fit, levels[i]).high, 300, 0);
        }
        assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
        assert_true(isinf(loss_fit_reaches(&fit, levels[i] - fabs(levels[i]) - 1).low));
    }
}

/* A loss that climbs will not reach a lower target, and gains nothing any more. */
static void test_wrong_way(void **state)
{
    (void)state;
    struct history h;
    struct loss_fit fit;
    history_init(&h);
    for (int i = 1; i <= 50; i++)
        add(&h, i, 1 + 0.1 * i);
    assert_true(loss_fit(&h, METRIC_FALLS, 0.5, &fit));
    assert_true(isinf(loss_fit_reaches(&fit, 0.5).mid));
    assert_near(loss_fit_settles(&fit, 1, 0.001).mid, 50, 0);
}

/* The target lies below the limit of the curve, or was passed long ago. */
static void test_target_out_of_reach(void **state)
{
    (void)state;
    struct history h;
    struct loss_fit fit;
    struct rng r;
    rng_init(&r, 2);
    follow(&h, &decay, 60, 2000, 0.005, &r);
    assert_true(loss_fit(&h, METRIC_FALLS, 0.05, &fit));
    assert_true(isinf(loss_fit_reaches(&fit, 0.05).mid));
    assert_near(loss_fit_reaches(&fit, 1).high, 2000, 0);
}

/* After going back to a checkpoint the same steps come again. */
static void test_steps_go_back(void **state)
{
    (void)state;
    struct history h;
    struct loss_fit fit;
    follow(&h, &inverse, 40, 1000, 0, NULL);
    for (int i = 20; i <= 40; i++)
        add(&h, 25.0 * i, loss_at(&inverse, 25.0 * i));
    assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
    assert_near(loss_fit_reaches(&fit, loss_at(&inverse, 2000)).mid / 2000, 1, 0.02);
}

/* Whatever comes in: the answers are in order, and neither NaN nor in the past. */
static void test_nonsense(void **state)
{
    (void)state;
    struct rng r;
    rng_init(&r, 3);
    for (int round = 0; round < 500; round++) {
        struct history h;
        struct loss_fit fit;
        history_init(&h);
        double size = pow(10, 40 * rng_uniform(&r) - 20), pace = pow(10, 24 * rng_uniform(&r) - 10);
        uint64_t mode = rng_below(&r, 4), n = 5 + rng_below(&r, 400);
        for (uint64_t i = 0; i < n; i++)
            add(&h, mode == 1 ? pace * rng_uniform(&r) : pace * (double)i,
                mode == 0   ? size * rng_normal(&r)
                : mode == 1 ? size * (double)rng_below(&r, 3)
                : mode == 2 ? size + (i % 50 == 7)
                            : (rng_below(&r, 5) ? size * pow(10, 30 * rng_uniform(&r)) : NAN));
        if (!loss_fit(&h, (enum metric_goal)rng_below(&r, 3), NAN, &fit))
            continue;
        struct range a[] = {loss_fit_reaches(&fit, size * rng_normal(&r)),
                            loss_fit_reaches(&fit, NAN), loss_fit_settles(&fit, pace, 0.001),
                            loss_fit_settles(&fit, 1e-300, 0.001)};
        for (size_t i = 0; i < COUNT_OF(a); i++) {
            assert_true(a[i].low >= fit.to && a[i].low <= a[i].mid && a[i].mid <= a[i].high);
        }
        assert_false(isnan(loss_fit_metric(&fit, 2 * fit.to)));
    }
}

static void test_bins(void **state)
{
    (void)state;
    struct history h;
    struct loss_bins b;
    history_init(&h);
    loss_bins_collect(&h, &b);
    assert_int_equal(b.n, 0);
    assert_near(loss_bins_range(&b), 0, 0);
    for (int i = 0; i < 1001; i++)
        add(&h, i, 1000 - i);
    loss_bins_collect(&h, &b);
    double count = 0;
    for (uint32_t i = 0; i < b.n; i++) {
        assert_near(b.step[i] + b.metric[i], 1000, 40);
        assert_true(i == 0 || b.step[i] > b.step[i - 1]);
        count += b.count[i];
    }
    assert_int_equal(b.n, LOSS_BINS);
    assert_near(b.to, 1000, 0); /* the newest, whether the history kept it or not */
    assert_near(count, h.n + (h.skipped > 0), 0);
    assert_true(loss_bins_gain(&b) < -500);
    loss_bins_negate(&b);
    assert_true(loss_bins_gain(&b) > 500);
}

/* A curve of each form with a random bend; a tenth to nine tenths of what is left
 * of its fall brings it to the target. */
static struct loss random_curve(enum loss_kind kind, struct rng *r, double *when)
{
    double limit = 0.5 * rng_uniform(r), left = 0.1 + 0.8 * rng_uniform(r);
    struct loss l = {LOSS_POWER, 1, 0.2 + rng_uniform(r), limit};
    if (kind == LOSS_INVERSE)
        l = (struct loss){LOSS_INVERSE, pow(10, -2.8 + 1.3 * rng_uniform(r)), 1, limit};
    else if (kind == LOSS_DECAY)
        l = (struct loss){LOSS_DECAY, 1, 0.0005 + 0.003 * rng_uniform(r), limit};
    double target = limit + (1 - left) * (loss_at(&l, 1000) - limit);
    *when = loss_reaches(&l, target, 1e6);
    return l;
}

static void test_band(void **state)
{
    (void)state;
    static const enum loss_kind kinds[] = {LOSS_INVERSE, LOSS_POWER, LOSS_DECAY};
    static const char *const names[] = {"inverse", "power", "decay"};
    static const double noises[] = {0.002, 0.01};
    double all = 0;
    for (size_t k = 0; k < COUNT_OF(kinds) * COUNT_OF(noises); k++) {
        double noise = noises[k % 2];
        uint32_t inside = 0, trials = 0;
        for (uint64_t seed = 0; trials < 400; seed++) {
            struct history h;
            struct loss_fit fit;
            struct rng r;
            double when;
            rng_init(&r, seed);
            struct loss l = random_curve(kinds[k / 2], &r, &when);
            if (when < 0 || when > 100000)
                continue; /* too far for anyone */
            follow(&h, &l, 50, 1000, noise, &r);
            assert_true(loss_fit(&h, METRIC_FALLS, NAN, &fit));
            struct range b = loss_fit_reaches(&fit, loss_at(&l, when));
            inside += b.low <= when && when <= b.high;
            trials++;
        }
        print_message("# %s, noise %.1f %%: the step of the target in its band %.0f %%\n",
                      names[k / 2], 100 * noise, inside / 4.0);
        assert_true(inside > 0.65 * 400 && inside < 0.97 * 400);
        all += inside / 2400.0;
    }
    print_message("# all together %.0f %%\n", 100 * all);
    assert_true(all > 0.65 && all < 0.95);
}

/* The simulator's curves, 1000 steps, seen up to the 300th: how far the predicted
 * step of a target is off, in percent of the whole job. */
static void predict_simulated(double k, double target, double noise, double bound)
{
    struct loss l = {LOSS_EXP, k, 0, 0};
    double when = 1000 * loss_reaches(&l, target, 1), off = 0, worst = 0;
    int inside = 0, lost = 0, trials = noise > 0 ? 200 : 1;
    for (int seed = 0; seed < trials; seed++) {
        struct history h;
        struct loss_fit fit;
        struct rng r;
        rng_init(&r, (uint64_t)seed);
        history_init(&h);
        for (int i = 1; i <= 60; i++)
            add(&h, 5 * i, loss_at(&l, 0.005 * i) + (noise > 0 ? noise * rng_normal(&r) : 0));
        assert_true(loss_fit(&h, METRIC_FALLS, target, &fit));
        struct range b = loss_fit_reaches(&fit, target);
        inside += b.low <= when && when <= b.high;
        if (isinf(b.mid)) {
            lost++;
            continue;
        }
        off += fabs(b.mid - when);
        worst = fmax(worst, fabs(b.mid - when));
    }
    off /= trials > lost ? trials - lost : 1;
    print_message(
        "# k = %4.1f, target %.2f at %3.0f %%, noise %.2f: off by %4.1f %% (at most %4.1f), "
        "in the band %3d %%, none told %d %%\n",
        k, target, when / 10, noise, off / 10, worst / 10, 100 * inside / trials,
        100 * lost / trials);
    assert_true(off / 1000 <= bound);
}

static void test_simulated_curves(void **state)
{
    (void)state;
    predict_simulated(5.2, 0.10, 0, 0.005);
    predict_simulated(5.2, 0.05, 0, 0.01);
    predict_simulated(5.2, 0.01, 0, 0.01);
    predict_simulated(12, 0.02, 0, 0.005);
    predict_simulated(12, 0.01, 0, 0.005);
    predict_simulated(5.2, 0.10, 0.01, 0.03);
    predict_simulated(5.2, 0.05, 0.01, 0.06);
    predict_simulated(5.2, 0.01, 0.01, 0.25);
    predict_simulated(12, 0.02, 0.01, 0.03);
    predict_simulated(12, 0.01, 0.01, 0.06);
    predict_simulated(5.2, 0.10, 0.05, 0.06);
    predict_simulated(12, 0.02, 0.05, 0.10);
}

static const struct CMUnitTest tests[] = {
    TEST(test_exact),
    TEST(test_settles),
    TEST(test_rising),
    TEST(test_outliers),
    TEST(test_too_little),
    TEST(test_constant),
    TEST(test_wrong_way),
    TEST(test_target_out_of_reach),
    TEST(test_steps_go_back),
    TEST(test_nonsense),
    TEST(test_bins),
    TEST(test_band),
    TEST(test_simulated_curves),
};

int main(void)
{
    return RUN(tests);
}
