/* What earlier jobs of a group have shown. */
#include "sim/groups.h"

#include "support/test.h"

/* A job is expected to be like those of its group, otherwise like all, otherwise as it is said. */
static void test_expect(void **state)
{
    struct groups g;
    (void)state;
    groups_init(&g);
    assert_near(groups_expect(&g, "a", 3600), 3600, 0);
    groups_end(&g, "a", 100);
    groups_end(&g, "a", 400);
    assert_near(groups_expect(&g, "a", 3600), 200, 1e-9);
    assert_near(groups_expect(&g, "b", 3600), 200, 1e-9);
    assert_near(groups_expect(&g, NULL, 3600), 200, 1e-9);
    groups_end(&g, "b", 5000);
    assert_near(groups_expect(&g, "a", 3600), 200, 1e-9);
    assert_near(groups_expect(&g, "b", 3600), 5000, 1e-6);
    assert_true(groups_is_known(&g, "a") && !groups_is_known(&g, "c"));
    groups_done(&g);
}

/* While no job of a group has ended, the others' mean says little: one that has gone on for long
 * goes on for as long again. */
static void test_going_on(void **state)
{
    struct groups g;
    (void)state;
    groups_init(&g);
    groups_end(&g, "short", 100);
    groups_go_on(&g, "long", 40);
    assert_near(groups_expect(&g, "long", 3600), 100, 1e-9);
    groups_go_on(&g, "long", 5000);
    groups_go_on(&g, "long", 300);
    assert_near(groups_expect(&g, "long", 3600), 10000, 1e-9);
    groups_end(&g, "long", 6000);
    assert_near(groups_expect(&g, "long", 3600), 6000, 1e-6);
    groups_done(&g);
}

static void test_sizes(void **state)
{
    struct groups g;
    (void)state;
    groups_init(&g);
    assert_int_equal(groups_most(&g, "a", 0), 0);
    groups_train(&g, "a", 0, 4);
    groups_train(&g, "a", 0, 2);
    groups_train(&g, "a", 1, 8);
    assert_int_equal(groups_most(&g, "a", 0), 4);
    assert_int_equal(groups_most(&g, "a", 1), 8);
    assert_int_equal(groups_most(&g, "b", 0), 0);
    groups_done(&g);
}

static const struct CMUnitTest tests[] = {TEST(test_expect), TEST(test_going_on), TEST(test_sizes)};

int main(void)
{
    return RUN(tests);
}
