/* Tests of model/loss: the four forms and their inverse. */
#include "model/loss.h"

#include "support/test.h"

static const struct loss none = {LOSS_NONE, 0, 0, 0};

static void test_exponential(void **state)
{
    (void)state;
    struct loss l = {LOSS_EXP, 5, 0, 0};
    assert_near(loss_at(&l, 0), 1, 0);
    assert_near(loss_at(&l, 1), 0, 1e-15);
    assert_near(loss_at(&l, 0.2), 1 - (1 - exp(-1)) / (1 - exp(-5)), 1e-12);
}

/* As a goes to 0 the curve goes to a straight line, without a jump or a NaN. */
static void test_nearly_straight(void **state)
{
    (void)state;
    static const double small[] = {0, 1e-300, 1e-17, 1e-12, 1e-6};
    for (size_t i = 0; i < COUNT_OF(small); i++) {
        struct loss l = {LOSS_EXP, small[i], 0, 0};
        for (int k = 0; k <= 10; k++)
            assert_near(loss_at(&l, k / 10.0), 1 - k / 10.0, 1e-6);
    }
}

static void test_fitted_forms(void **state)
{
    (void)state;
    struct loss inverse = {LOSS_INVERSE, 0.5, 0.25, 0.1};
    assert_near(loss_at(&inverse, 0), 4.1, 1e-12);
    assert_near(loss_at(&inverse, 10), 1 / 5.25 + 0.1, 1e-12);
    struct loss power = {LOSS_POWER, 2, 0.5, 0.3};
    assert_near(loss_at(&power, 0), 2.3, 1e-12);
    assert_near(loss_at(&power, 3), 1.3, 1e-12);
    assert_near(loss_at(&none, 3), 0, 0);
}

static void test_falls(void **state)
{
    (void)state;
    static const struct loss curves[] = {
        {LOSS_EXP, 3, 0, 0}, {LOSS_EXP, 0, 0, 0}, {LOSS_INVERSE, 1, 1, 0}, {LOSS_POWER, 1, 2, 0.5}};
    for (size_t i = 0; i < COUNT_OF(curves); i++)
        for (int k = 0; k < 100; k++)
            assert_true(loss_at(&curves[i], k / 100.0) > loss_at(&curves[i], (k + 1) / 100.0));
}

static void test_reaches(void **state)
{
    (void)state;
    static const struct loss curves[] = {
        {LOSS_EXP, 3, 0, 0}, {LOSS_EXP, 0, 0, 0}, {LOSS_INVERSE, 1, 1, 0}, {LOSS_POWER, 1, 2, 0.5}};
    for (size_t i = 0; i < COUNT_OF(curves); i++)
        for (int k = 0; k <= 20; k++) {
            double limit = 1, x = k / 20.0, target = loss_at(&curves[i], x);
            double found = loss_reaches(&curves[i], target, limit);
            assert_near(found, x, 1e-9);
            assert_true(loss_at(&curves[i], found) <= target);
        }
}

static void test_never_reached(void **state)
{
    (void)state;
    struct loss l = {LOSS_POWER, 1, 0.5, 0.3};
    assert_true(loss_reaches(&l, 0.3, 1e6) < 0);
    assert_true(loss_reaches(&l, NAN, 10) < 0);
    assert_true(loss_reaches(&none, 1, 10) < 0);
    assert_near(loss_reaches(&l, 5, 10), 0, 0); /* there from the start */
    assert_near(loss_reaches(&l, 1.3, 0), 0, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(test_exponential), TEST(test_nearly_straight), TEST(test_fitted_forms),
    TEST(test_falls),       TEST(test_reaches),         TEST(test_never_reached),
};

int main(void)
{
    return RUN(tests);
}
