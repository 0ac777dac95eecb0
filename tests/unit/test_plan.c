/* Tests of model/plan: grants that are made, changed and taken back, and arrays
 * that outgrow their first size. */
#include "model/plan.h"

#include "support/test.h"

static void test_empty(void **state)
{
    (void)state;
    struct arena a = {0};
    struct snapshot none = {0}, some = {.tasks_cap = 3};
    struct plan p;
    plan_init(&p, &none, &a, true);
    assert_int_equal(p.n, 0);
    plan_init(&p, &some, &a, false);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(plan_units(&p, i), 0);
        assert_null(plan_grant(&p, i));
    }
    assert_true(p.wake_at == USEC_NEVER);
    plan_deny(&p, 0, WHY_NO_ROOM, 1); /* nobody asked */
    assert_null(p.why);
    arena_done(&a);
}

static void test_give(void **state)
{
    (void)state;
    struct arena a = {0};
    struct snapshot s = {.tasks_cap = 8};
    struct plan p;
    plan_init(&p, &s, &a, false);
    plan_give(&p, 5, POOL_GPU, 2 * UNIT);
    plan_give(&p, 3, POOL_CPU, 500);
    plan_give(&p, 4, POOL_CPU, 0); /* nothing to take back */
    assert_int_equal(p.n, 2);
    assert_int_equal(plan_units(&p, 5), 2 * UNIT);
    assert_int_equal(plan_grant(&p, 5)->pool, POOL_GPU);
    assert_int_equal(plan_units(&p, 3), 500);
    assert_null(plan_grant(&p, 4));

    plan_give(&p, 5, POOL_GPU + 1, 4 * UNIT);
    assert_int_equal(p.n, 2);
    assert_int_equal(plan_grant(&p, 5)->pool, POOL_GPU + 1);
    plan_give(&p, 5, POOL_GPU, 0);
    assert_int_equal(plan_units(&p, 5), 0);
    plan_give(&p, 5, POOL_GPU, UNIT);
    assert_int_equal(plan_units(&p, 5), UNIT);
    assert_int_equal(p.n, 2); /* at most one grant for a task */
    arena_done(&a);
}

static void test_many(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct arena a = {0};
    struct snapshot s = {.tasks_cap = MANY};
    struct plan p;
    plan_init(&p, &s, &a, true);
    for (uint32_t i = 0; i < MANY; i++) {
        struct memo m = {.i = {i}};
        plan_give(&p, MANY - 1 - i, POOL_GPU, (i + 1) * UNIT);
        plan_share(&p, i, i, 0.5);
        plan_remember(&p, AXIS_PLACE, MEMO_NODE, i, &m);
    }
    assert_int_equal(p.n, MANY);
    assert_int_equal(p.nshares, MANY);
    assert_int_equal(p.nmemos, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        assert_int_equal(plan_grant(&p, i)->task, i);
        assert_int_equal(plan_units(&p, i), (MANY - i) * UNIT);
        assert_int_equal(p.shares[i].task, i);
        assert_int_equal(p.shares[i].limit, i);
        assert_int_equal(p.memos[i].memo.i[0], i);
        assert_int_equal(p.memos[i].index, i);
    }
    arena_done(&a);
}

static void test_verdicts(void **state)
{
    (void)state;
    struct arena a = {0};
    struct snapshot s = {.tasks_cap = 2};
    struct plan p;
    plan_init(&p, &s, &a, true);
    assert_int_equal(p.why[0].why, WHY_NONE);
    plan_deny(&p, 1, WHY_BEHIND, 0);
    assert_int_equal(p.why[1].why, WHY_BEHIND);
    assert_int_equal(p.why[1].who, 0);
    assert_string_equal(why_name(WHY_NONE), "");
    assert_string_equal(why_name(WHY_NO_ROOM), "no_room");
    arena_done(&a);
}

static void test_wake(void **state)
{
    (void)state;
    struct arena a = {0};
    struct snapshot s = {0};
    struct plan p;
    plan_init(&p, &s, &a, false);
    plan_wake(&p, 50);
    plan_wake(&p, 70);
    plan_wake(&p, USEC_NEVER);
    assert_int_equal(p.wake_at, 50);
    plan_wake(&p, 20);
    assert_int_equal(p.wake_at, 20);
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(test_empty), TEST(test_give), TEST(test_many), TEST(test_verdicts), TEST(test_wake),
};

int main(void)
{
    return RUN(tests);
}
