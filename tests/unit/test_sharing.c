/* Tests of the speed of jobs that share units. The cycles are those of Muri's own program
 * (matching.py) for stage times of its traces. */
#include "model/sharing.h"
#include "support/test.h"

static const struct sharing a2c = {.kind = 0, .step = 517 * 1.015, .stage = {514, 14, 0}};
static const struct sharing bert = {.kind = 1, .step = 178 * 1.015, .stage = {0.5, 160, 0}};
static const struct sharing resnet = {.kind = 2, .step = 779 * 1.015, .stage = {711, 110, 0}};
static const struct sharing vgg = {.kind = 3, .step = 107 * 1.015, .stage = {117, 68, 0}};
static const struct sharing gpt = {.kind = 4, .step = 437 * 1.015, .stage = {0.6, 419, 49}};
static const struct sharing vgg8 = {.kind = 5, .step = 214 * 1.015, .stage = {82, 75, 66}};
static const struct sharing bert8 = {.kind = 6, .step = 192 * 1.015, .stage = {0.5, 167, 59}};

static void test_cycle(void **state)
{
    (void)state;
    static const struct {
        const struct sharing *jobs[SHARING_MOST];
        unsigned n;
        double cycle;
    } cases[] = {
        {{&a2c, &bert}, 2, 691.8620689655173},
        {{&vgg, &vgg}, 2, 306.62068965517244},
        {{&resnet, &bert, &vgg}, 3, 1213.3004926108376},
        {{&a2c, &bert, &resnet, &vgg}, 4, 1127.0443349753696},
        {{&gpt, &vgg8}, 2, 648.0965517241381},
        {{&gpt, &vgg8, &bert8}, 3, 1049.2610837438424},
        {{&gpt, &gpt, &vgg8, &bert8}, 4, 1457.7339901477833},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_near(sharing_cycle(cases[i].jobs, cases[i].n), cases[i].cycle, 1e-9);
}

static void test_order_does_not_matter(void **state)
{
    (void)state;
    const struct sharing *one[] = {&gpt, &vgg8, &gpt, &bert8};
    const struct sharing *other[] = {&bert8, &gpt, &gpt, &vgg8};
    assert_near(sharing_cycle(one, 4), sharing_cycle(other, 4), 0);
}

static void test_rates(void **state)
{
    (void)state;
    const struct sharing *jobs[] = {&a2c, &bert};
    double rates[SHARING_MOST];
    assert_true(sharing_rates(jobs, 2, 1, rates));
    assert_near(rates[0], 517 * 1.015 / 691.8620689655173, 1e-12);
    assert_near(rates[1], 178 * 1.015 / 691.8620689655173, 1e-12);
    assert_true(sharing_rates(jobs, 1, 1, rates));
    assert_near(rates[0], 1, 0);
}

static void test_pairs(void **state)
{
    (void)state;
    /* Two pools, two kinds: together in pool 1 only, and each kind with itself nowhere. */
    static const float x_pairs[] = {0, 0, 0, 0.5F}, y_pairs[] = {0, 0, 0.75F, 0};
    static const struct sharing x = {.kind = 0, .pairs = x_pairs, .kinds = 2};
    static const struct sharing y = {.kind = 1, .pairs = y_pairs, .kinds = 2};
    const struct sharing *both[] = {&x, &y}, *same[] = {&x, &x}, *mixed[] = {&x, &vgg};
    const struct sharing *three[] = {&x, &y, &x};
    double rates[SHARING_MOST];
    assert_true(sharing_rates(both, 2, 1, rates));
    assert_near(rates[0], 0.5, 0);
    assert_near(rates[1], 0.75, 0);
    assert_false(sharing_rates(both, 2, 0, rates));
    assert_false(sharing_rates(same, 2, 1, rates));
    assert_false(sharing_rates(mixed, 2, 1, rates));
    assert_false(sharing_rates(three, 3, 1, rates));
}

static void test_unknown(void **state)
{
    (void)state;
    const struct sharing *jobs[] = {&a2c, NULL}, *many[] = {&a2c, &a2c, &a2c, &a2c, &a2c};
    double rates[SHARING_MOST];
    assert_false(sharing_rates(jobs, 2, 1, rates));
    assert_false(sharing_rates(many, 5, 1, rates));
}

static const struct CMUnitTest tests[] = {TEST(test_cycle), TEST(test_order_does_not_matter),
                                          TEST(test_rates), TEST(test_pairs), TEST(test_unknown)};

int main(void)
{
    return RUN(tests);
}
