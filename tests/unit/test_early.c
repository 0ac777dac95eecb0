/* Tests of the rules of early stopping: conditions, plateaus, successive halving. */
#include <math.h>

#include "model/halving.h"
#include "model/plateau.h"
#include "progress/condition.h"
#include "support/test.h"

static void test_conditions(void **state)
{
    static const struct {
        const char *text, *again;
        double yes, no;
    } good[] = {
        {"loss < 0.1", "loss < 0.1", 0.09, 0.1},
        {"loss<=0.1", "loss <= 0.1", 0.1, 0.11},
        {"Val Acc>=.9", "val_acc >= 0.9", 0.9, 0.89},
        {"top-1 > -1e3", "top_1 > -1000", 0, -1000},
    };
    char text[CONDITION_TEXT];
    (void)state;
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        struct condition c, again;
        struct err err;
        assert_ok(condition_parse(good[i].text, &c, &err), err);
        assert_string_equal(condition_format(&c, text), good[i].again);
        assert_ok(condition_parse(text, &again, &err), err);
        assert_memory_equal(&c, &again, sizeof c);
        assert_true(condition_met(&c, good[i].yes) && !condition_met(&c, good[i].no));
        assert_false(condition_met(&c, NAN));
    }
    static const char *const bad[] = {
        "",           "loss",
        "loss < ",    "< 1",
        "loss = 1",   "loss < nan",
        "loss < 1 2", "loss =< 1",
        "loss < inf", "a_name_that_is_longer_than_any_metric_can_be < 1"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct condition c;
        struct err err;
        assert_error(condition_parse(bad[i], &c, &err), err, ERR_INVALID, "expected");
    }
}

static void test_directions(void **state)
{
    static const char *const rising[] = {"accuracy", "val_acc",     "Top1",
                                         "f1",       "mean_reward", "bleu"};
    static const char *const falling[] = {"loss", "val_loss", "top1_error", "wer",
                                          "ppl",  "",         "x",          "f1_loss"};
    (void)state;
    for (size_t i = 0; i < COUNT_OF(rising); i++)
        assert_true(condition_rises(rising[i]));
    for (size_t i = 0; i < COUNT_OF(falling); i++)
        assert_false(condition_rises(falling[i]));
}

/* A loss that falls by a tenth each second and then stays: flat one window after its last good
 * value, whatever the noise below 5 %. */
static void test_plateau(void **state)
{
    const struct flatness rule = {.part = 0.05, .time = 10};
    struct plateau p = {0};
    double loss = 1;
    (void)state;
    assert_false(plateau_add(&p, &rule, false, 0, 0, NAN));
    for (usec_t t = 0; t < 20; t++, loss *= 0.9)
        assert_false(plateau_add(&p, &rule, false, t, (double)t, loss));
    loss /= 0.9; /* as at t = 19 */
    for (usec_t t = 20; t < 29; t++)
        assert_false(plateau_add(&p, &rule, false, t, (double)t, loss * (t % 2 ? 0.96 : 1.5)));
    assert_true(plateau_add(&p, &rule, false, 29, 29, loss));
    assert_true(plateau_add(&p, &rule, false, 30, 30, NAN));
    assert_false(plateau_add(&p, &rule, false, 31, 31, loss * 0.9));
}

/* Slow and steady counts: 5 % in ten steps, though never 5 % in one. */
static void test_slow_plateau(void **state)
{
    const struct flatness rule = {.part = 0.05, .steps = 10};
    struct plateau p = {0};
    (void)state;
    for (int step = 0; step < 1000; step++)
        assert_false(plateau_add(&p, &rule, true, 0, step, pow(1.006, step)));
    struct plateau slower = {0};
    int flat = 0;
    for (int step = 0; step < 100 && !flat; step++)
        flat = plateau_add(&slower, &rule, true, 0, step, pow(1.004, step)) ? step : 0;
    assert_int_equal(flat, 10);
}

/* A pause does not count, and what was reached before it must still be improved upon. */
static void test_interrupted_plateau(void **state)
{
    const struct flatness rule = {.part = 0.05, .time = 10};
    struct plateau p = {0};
    (void)state;
    assert_false(plateau_add(&p, &rule, false, 0, 0, 1));
    plateau_break(&p);
    assert_false(plateau_add(&p, &rule, false, 1000, 1, 1));
    assert_false(plateau_add(&p, &rule, false, 1009, 2, 1));
    assert_true(plateau_add(&p, &rule, false, 1010, 3, 0.99));
}

static void test_rungs(void **state)
{
    (void)state;
    assert_int_equal(halving_passed(100, 99), 0);
    assert_int_equal(halving_passed(100, 100), 1);
    assert_int_equal(halving_passed(100, 399), 2);
    assert_int_equal(halving_passed(100, 400), 3);
    assert_int_equal(halving_passed(1, NAN), 0);
    assert_true(halving_passed(1, 1e300) <= HALVING_RUNGS);
    assert_true(halving_passed(INT64_MAX, 1e300) <= 1);
    for (uint32_t k = 0; k < halving_passed(1000000000, 1e300); k++)
        assert_true(halving_step(1000000000, k) > 0);
}

/* The members of one rung as they arrive: how many have gone on. */
static void test_quota(void **state)
{
    static const uint32_t want[] = {2, 2, 2, 2, 3, 3, 4, 4};
    (void)state;
    for (uint32_t n = 1; n <= COUNT_OF(want); n++)
        assert_int_equal(halving_quota(n, 2), want[n - 1]);
}

static void assert_ranks(bool rises, const int64_t *want)
{
    struct halving_member m[] = {{1, 0.5}, {2, NAN},       {3, 0.1}, {4, 0.5},
                                 {5, 0.9}, {6, -INFINITY}, {7, NAN}};
    halving_rank(m, COUNT_OF(m), rises);
    for (size_t i = 0; i < COUNT_OF(m); i++)
        assert_int_equal(m[i].job, want[i]);
}

static void test_ranks(void **state)
{
    (void)state;
    assert_ranks(false, (const int64_t[]){6, 3, 1, 4, 5, 2, 7});
    assert_ranks(true, (const int64_t[]){5, 1, 4, 3, 6, 2, 7});
    halving_rank(NULL, 0, true);
}

static const struct CMUnitTest tests[] = {
    TEST(test_conditions),
    TEST(test_directions),
    TEST(test_plateau),
    TEST(test_slow_plateau),
    TEST(test_interrupted_plateau),
    TEST(test_rungs),
    TEST(test_quota),
    TEST(test_ranks),
};

int main(void)
{
    return RUN(tests);
}
