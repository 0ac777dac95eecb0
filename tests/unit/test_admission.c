/* Tests of policy/admission: who is admitted, who is given up for whom, and when
 * the next look is due. That admitted sets are feasible is in
 * tests/property/deadline.c. */
#include "policy/allocate/admission.h"
#include "policy/budget.h"

#include "policy/order.h"
#include "support/test.h"
#include "support/world.h"

struct trial {
    struct world w;
    struct arena arena;
    struct admission m;
};

static void trial_init(struct trial *t, const char *nodes)
{
    *t = (struct trial){0};
    world_init(&t->w, nodes, "deadline", NULL);
}

static void trial_done(struct trial *t)
{
    arena_done(&t->arena);
    world_done(&t->w);
}

/* A linear job of 1 to max units; no deadline if it is 0. Seconds. */
static uint32_t add(struct trial *t, units_t max, double work, double deadline)
{
    struct job like = {.pool = POOL_GPU,
                       .kind = JOB_MALLEABLE,
                       .min = UNIT,
                       .max = max * UNIT,
                       .work = work * 1e6,
                       .deadline = (usec_t)(deadline * 1e6)};
    return world_submit(&t->w, 0, like);
}

static void fill(struct trial *t)
{
    struct plan plan;
    const struct snapshot *s = engine_snapshot(&t->w.e, t->w.now);
    plan_init(&plan, s, &t->arena, false);
    const uint32_t *order = order_by_submit(s, &plan);
    admission_init(&t->m, s, order, budget_pools(s, order, &t->arena), POOL_GPU, &t->arena);
    admission_fill(&t->m, 60e6);
}

static enum admission_state state_of(const struct trial *t, uint32_t task)
{
    for (uint32_t i = 0; i < t->m.n; i++)
        if (t->m.at[i].demand.task == task)
            return t->m.at[i].state;
    return ADMISSION_LATE;
}

static void test_classes(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x4");
    uint32_t in_time = add(&t, 4, 400, 100), hopeless = add(&t, 4, 401, 100);
    uint32_t none = add(&t, 4, 10, 0);
    fill(&t);
    assert_int_equal(state_of(&t, in_time), ADMISSION_ADMITTED);
    assert_int_equal(state_of(&t, hopeless), ADMISSION_LATE);
    assert_int_equal(state_of(&t, none), ADMISSION_LATE);
    assert_int_equal(t.m.at[0].need, 3);
    /* Cost: units x time to the met deadline. */
    assert_near(t.m.at[0].cost, 4 * UNIT * 100e6, 1);
    trial_done(&t);
}

/* c fits in time only without the dearer of a and b, whose deadlines come first. */
static void test_the_dearest_gives_way(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2");
    uint32_t a = add(&t, 1, 100, 100), b = add(&t, 1, 90, 110), c = add(&t, 1, 60, 120);
    fill(&t);
    assert_int_equal(state_of(&t, a), ADMISSION_AT_RISK);
    assert_int_equal(state_of(&t, b), ADMISSION_ADMITTED);
    assert_int_equal(state_of(&t, c), ADMISSION_ADMITTED);
    trial_done(&t);
}

/* The one that does not fit is itself the dearest: nobody gives way. */
static void test_the_dearest_is_the_last(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2");
    uint32_t a = add(&t, 1, 60, 100), b = add(&t, 1, 60, 110), c = add(&t, 1, 100, 120);
    fill(&t);
    assert_int_equal(state_of(&t, a), ADMISSION_ADMITTED);
    assert_int_equal(state_of(&t, b), ADMISSION_ADMITTED);
    assert_int_equal(state_of(&t, c), ADMISSION_AT_RISK);
    trial_done(&t);
}

/* A weight makes a deadline worth more: the same as above, but c counts for 5. */
static void test_weight(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2");
    add(&t, 1, 60, 100);
    add(&t, 1, 60, 110);
    struct job like = {
        .pool = POOL_GPU, .req = UNIT, .work = 100e6, .deadline = 120000000, .weight = 5};
    uint32_t c = world_submit(&t.w, 0, like);
    fill(&t);
    assert_int_equal(state_of(&t, c), ADMISSION_ADMITTED);
    trial_done(&t);
}

/* What was given before is not counted on. */
static void test_units_given_before(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2");
    uint32_t a = add(&t, 2, 200, 100);
    struct plan plan;
    const struct snapshot *s = engine_snapshot(&t.w.e, t.w.now);
    plan_init(&plan, s, &t.arena, false);
    add(&t, 1, 1000, 0);
    s = engine_snapshot(&t.w.e, t.w.now);
    plan_init(&plan, s, &t.arena, false);
    const uint32_t *order = order_by_submit(s, &plan);
    admission_init(&t.m, s, order, budget_pools(s, order, &t.arena), POOL_GPU, &t.arena);
    assert_int_equal(t.m.left, 2 * UNIT);
    admission_give(&t.m, &t.m.at[1], UNIT); /* the floor of another */
    assert_int_equal(t.m.left, UNIT);
    admission_fill(&t.m, 60e6);
    assert_int_equal(state_of(&t, a), ADMISSION_AT_RISK);
    trial_done(&t);
}

/* b can have its second unit only when a is done: look again then. */
static void test_wake(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2");
    add(&t, 1, 60, 60);
    add(&t, 2, 180, 120);
    fill(&t);
    for (uint32_t i = 0; i < t.m.n; i++) {
        assert_int_equal(t.m.at[i].state, ADMISSION_ADMITTED);
        admission_give(&t.m, &t.m.at[i], UNIT);
    }
    assert_int_equal(admission_wake(&t.m), 60000000);
    admission_give(&t.m, &t.m.at[0], 0);
    admission_give(&t.m, &t.m.at[1], 2 * UNIT);
    assert_true(admission_wake(&t.m) == USEC_NEVER);
    trial_done(&t);
}

static const struct CMUnitTest tests[] = {
    TEST(test_classes), TEST(test_the_dearest_gives_way), TEST(test_the_dearest_is_the_last),
    TEST(test_weight),  TEST(test_units_given_before),    TEST(test_wake),
};

int main(void)
{
    return RUN(tests);
}
