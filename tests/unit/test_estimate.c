/* Tests of model/estimate: the steps that are left, the time they take and how
 * often its band holds the truth, and the book of past errors. */
#include "model/estimate.h"

#include "base/rng.h"
#include "support/test.h"

static const struct steps_goal no_goal = {.target = NAN};

static void add(struct history *h, double step, double metric)
{
    usec_t at = h->last.at < 0 ? 0 : h->last.at + 1;
    history_add(h, &(struct sample){.at = at, .step = step, .metric = metric});
}

static void follow(struct history *h, const struct loss *l, int n, double to)
{
    history_init(h);
    for (int i = 1; i <= n; i++)
        add(h, to * i / n, loss_at(l, to * i / n));
}

/* A job whose steps take a second on one unit and half a second on two. */
static void see_linear(struct speed_fit *fit)
{
    struct speed_seen seen;
    speed_seen_init(&seen, 0);
    for (int i = 0; i < 1000; i++) {
        speed_seen_add(&seen, i, UNIT, 1e6);
        speed_seen_add(&seen, i, 2 * UNIT, 0.5e6);
    }
    speed_fit(&seen, 0, NULL, fit);
}

static void assert_range(struct range r, double low, double mid, double high)
{
    assert_near(r.low, low, 1e-9 * fabs(low));
    assert_near(r.mid, mid, 1e-9 * fabs(mid));
    assert_near(r.high, high, 1e-9 * fabs(high));
}

static void test_declared(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    struct steps_goal goal = {.total = 1000, .target = 0.5};
    struct steps_left left = estimate_steps(NULL, &goal);
    assert_int_equal(left.basis, STEPS_DECLARED);
    assert_range(left.steps, 1000, 1000, 1000);
    assert_range(estimate_steps(&h, &goal).steps, 1000, 1000, 1000);
    add(&h, 400, NAN);
    assert_range(estimate_steps(&h, &goal).steps, 600, 600, 600);
    add(&h, 1200, NAN); /* it went on */
    assert_range(estimate_steps(&h, &goal).steps, 0, 0, 0);
    goal.total = 1500;
    add(&h, NAN, NAN); /* the step before counts */
    assert_range(estimate_steps(&h, &goal).steps, 300, 300, 300);
    add(&h, -5, NAN);
    assert_range(estimate_steps(&h, &goal).steps, 1500, 1500, 1500);
}

static void test_unknown(void **state)
{
    (void)state;
    static const double bad[] = {-1, NAN, INFINITY};
    struct history h;
    struct steps_left left = estimate_steps(NULL, &no_goal);
    assert_int_equal(left.basis, STEPS_UNKNOWN);
    assert_range(left.steps, 0, INFINITY, INFINITY);
    history_init(&h);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(estimate_steps(&h, &no_goal).basis, STEPS_UNKNOWN);
        add(&h, i, 1.0 / (i + 1));
    }
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_int_equal(
            estimate_steps(&h, &(struct steps_goal){.total = bad[i], .target = INFINITY}).basis,
            STEPS_UNKNOWN);
}

static void test_by_metric(void **state)
{
    (void)state;
    struct loss l = {LOSS_INVERSE, 0.01, 1, 0.2};
    struct history h;
    follow(&h, &l, 40, 500);
    struct steps_left left = estimate_steps(&h, &(struct steps_goal){.target = loss_at(&l, 900)});
    assert_int_equal(left.basis, STEPS_TARGET);
    assert_near(left.steps.mid, 400, 10);

    /* Steps since the last value of the metric count as done. */
    add(&h, 600, NAN);
    left = estimate_steps(&h, &(struct steps_goal){.target = loss_at(&l, 900)});
    assert_near(left.steps.mid, 300, 10);

    left = estimate_steps(&h, &(struct steps_goal){.target = 0.1});
    assert_int_equal(left.basis, STEPS_UNREACHABLE);
    assert_true(isinf(left.steps.mid));

    /* Longer epochs gain more, so that it settles later. */
    left = estimate_steps(&h, &no_goal);
    assert_int_equal(left.basis, STEPS_SETTLED);
    struct steps_left later = estimate_steps(&h, &(struct steps_goal){.target = NAN, .epoch = 50});
    assert_int_equal(later.basis, STEPS_SETTLED);
    assert_true(later.steps.mid > left.steps.mid);
    assert_range(estimate_steps(&h, &(struct steps_goal){.target = NAN, .epoch = 5}).steps,
                 left.steps.low, left.steps.mid, left.steps.high); /* a hundredth of 500 */
}

static void test_time(void **state)
{
    (void)state;
    struct speed_fit fit;
    see_linear(&fit);
    struct steps_left left = {STEPS_DECLARED, {100, 100, 100}};
    struct range one = estimate_time(&fit, &left, UNIT), two = estimate_time(&fit, &left, 2 * UNIT);
    assert_near(one.mid / 1e8, 1, 0.01);
    assert_near(two.mid / 0.5e8, 1, 0.01);
    assert_true(one.low < one.mid && one.mid < one.high && one.high / one.low < 1.1);

    /* Both uncertainties count: more than either, less than both in full. */
    struct range step = speed_fit_step(&fit, UNIT);
    left = (struct steps_left){STEPS_TARGET, {98, 100, 103}};
    struct range r = estimate_time(&fit, &left, UNIT);
    assert_near(r.mid, one.mid, 1);
    assert_true(r.low < one.low && r.low < 98 * step.mid && r.low > 98 * step.low);
    assert_true(r.high > one.high && r.high > 103 * step.mid && r.high < 103 * step.high);
}

static void test_time_at_the_edges(void **state)
{
    (void)state;
    struct speed_seen seen;
    struct speed_fit fit, unseen;
    see_linear(&fit);
    speed_seen_init(&seen, 0);
    speed_fit(&seen, 0, NULL, &unseen);
    const struct steps_left none = {STEPS_DECLARED, {0, 0, 0}};
    const struct steps_left some = {STEPS_DECLARED, {100, 100, 100}};
    const struct steps_left unknown = {STEPS_UNKNOWN, {0, INFINITY, INFINITY}};
    const struct steps_left open = {STEPS_TARGET, {0, 10, INFINITY}};
    const struct steps_left over = {STEPS_SETTLED, {0, 0, 10}};
    const struct steps_left never = {STEPS_UNREACHABLE, {50, INFINITY, INFINITY}};
    assert_range(estimate_time(&unseen, &none, 0), 0, 0, 0);
    assert_range(estimate_time(&fit, &some, 0), INFINITY, INFINITY, INFINITY);
    assert_range(estimate_time(&fit, &some, -UNIT), INFINITY, INFINITY, INFINITY);
    assert_range(estimate_time(&unseen, &some, UNIT), 0, INFINITY, INFINITY);
    assert_range(estimate_time(&fit, &unknown, UNIT), 0, INFINITY, INFINITY);
    struct range r = estimate_time(&fit, &open, UNIT);
    assert_near(r.low, 0, 0);
    assert_near(r.mid, 10e6, 0.1e6);
    assert_true(isinf(r.high));
    r = estimate_time(&fit, &over, UNIT);
    assert_near(r.mid, 0, 0);
    assert_near(r.high, 10e6, 0.1e6);
    r = estimate_time(&fit, &never, UNIT);
    assert_near(r.low, 50e6, 2e6);
    assert_true(isinf(r.mid));
}

/* A job of the simulated kind: steps on 2 units, a loss with noise, a target. */
struct job_story {
    struct speed_seen seen;
    struct history h;
    struct steps_goal goal;
    double left; /* microseconds on 2 units */
};

static void tell(struct job_story *s, uint64_t seed)
{
    struct rng r;
    rng_init(&r, seed);
    double fixed = 0.4 * rng_uniform(&r), step = 1e6 * (fixed + (1 - fixed) / 2);
    struct loss l = {LOSS_INVERSE, 0.002 + 0.02 * rng_uniform(&r), 1, 0.3 * rng_uniform(&r)};
    double end = 600 + 900 * rng_uniform(&r);
    s->goal = (struct steps_goal){.target = loss_at(&l, end)};
    s->left = (end - 500) * step;
    speed_seen_init(&s->seen, 0);
    history_init(&s->h);
    for (int i = 1; i <= 50; i++) {
        speed_seen_add(&s->seen, i, 2 * UNIT, step * exp(0.1 * rng_normal(&r)));
        add(&s->h, 10 * i, loss_at(&l, 10 * i) + 0.005 * rng_normal(&r));
    }
}

static void test_band(void **state)
{
    (void)state;
    struct estimate_score score = {0};
    for (uint64_t seed = 0; seed < 400; seed++) {
        struct job_story s;
        struct speed_fit fit;
        tell(&s, seed);
        speed_fit(&s.seen, 0, NULL, &fit);
        struct steps_left steps = estimate_steps(&s.h, &s.goal);
        struct range left = estimate_time(&fit, &steps, 2 * UNIT);
        struct estimate_record record = estimate_record_make(0, &left);
        estimate_score_add(&score, &record, llround(s.left));
    }
    print_message("# 400 jobs, step noise 10 %%, loss noise 0.5 %%: remaining time in its band "
                  "%.0f %%, mean error %.0f %%, bias %+.0f %%, none told %u\n",
                  100.0 * score.inside / score.n, 100 * score.error, 100 * score.bias,
                  400 - score.n);
    assert_true(score.n > 350);
    assert_true(score.inside > 0.65 * score.n && score.inside < 0.95 * score.n);
    assert_true(score.error < 0.4);
}

/* The same input gives the same bits. */
static void test_deterministic(void **state)
{
    (void)state;
    struct job_story s;
    struct speed_fit a, b;
    tell(&s, 5);
    speed_fit(&s.seen, 9, NULL, &a);
    speed_fit(&s.seen, 9, NULL, &b);
    assert_memory_equal(&a.step, &b.step, sizeof a.step);
    struct steps_left x = estimate_steps(&s.h, &s.goal), y = estimate_steps(&s.h, &s.goal);
    assert_memory_equal(&x.steps, &y.steps, sizeof x.steps);
}

static void test_record(void **state)
{
    (void)state;
    struct estimate_record r = estimate_record_make(1000, &(struct range){100, 200, 400});
    assert_int_equal(r.low, 1100);
    assert_int_equal(r.end, 1200);
    assert_int_equal(r.high, 1400);
    assert_near(estimate_record_error(&r, 1200), 0, 0);
    assert_near(estimate_record_error(&r, 1100), 1, 0);    /* told twice the time */
    assert_near(estimate_record_error(&r, 1400), -0.5, 0); /* told half of it */
    assert_near(estimate_record_error(&r, 1001), ESTIMATE_ERROR_MAX, 0);
    assert_true(isnan(estimate_record_error(&r, 1000)));
    assert_true(isnan(estimate_record_error(&r, 0)));

    r = estimate_record_make(1000, &(struct range){5, INFINITY, INFINITY});
    assert_int_equal(r.low, 1005);
    assert_true(r.end == USEC_NEVER && r.high == USEC_NEVER);
    assert_true(isnan(estimate_record_error(&r, 2000)));
    r = estimate_record_make(1000, &(struct range){NAN, 1e300, NAN});
    assert_true(r.low == USEC_NEVER && r.end == USEC_NEVER);
}

static void test_score(void **state)
{
    (void)state;
    struct estimate_score score = {0};
    struct estimate_record r = estimate_record_make(0, &(struct range){80, 100, 120});
    estimate_score_add(&score, &r, 100);
    estimate_score_add(&score, &r, 50);
    estimate_score_add(&score, &r, 200);
    estimate_score_add(&score, &r, 80);
    estimate_score_add(&score, &r, 0); /* was over when it was predicted */
    r.end = USEC_NEVER;
    estimate_score_add(&score, &r, 100);
    assert_int_equal(score.n, 4);
    assert_int_equal(score.inside, 2);
    assert_near(score.error, (0 + 1 + 0.5 + 0.25) / 4, 1e-12);
    assert_near(score.bias, (0 + 1 - 0.5 + 0.25) / 4, 1e-12);
}

static const struct CMUnitTest tests[] = {
    TEST(test_declared),
    TEST(test_unknown),
    TEST(test_by_metric),
    TEST(test_time),
    TEST(test_time_at_the_edges),
    TEST(test_band),
    TEST(test_deterministic),
    TEST(test_record),
    TEST(test_score),
};

int main(void)
{
    return RUN(tests);
}
