/* Tests of when the engine decides: once for all that happens at an instant, not
 * more often than resched_min, when a policy asked to be woken; and that nothing
 * flaps. */
#include "policy/policies.h"
#include "support/test.h"
#include "support/world.h"

static const struct job one_gpu = {.pool = POOL_GPU, .req = UNIT, .work = 100e6};

static usec_t seconds(double s)
{
    return (usec_t)(s * USEC_PER_SEC);
}

static void test_due(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    assert_true(engine_due(&w.e) == USEC_NEVER); /* nothing to decide */
    world_submit(&w, 10, one_gpu);
    assert_true(engine_due(&w.e) <= seconds(10));
    world_decide(&w, 10, "t=10 start a 1 on n1:1\n");
    assert_true(engine_due(&w.e) == USEC_NEVER);
    world_end(&w, 110, 0);
    assert_true(engine_due(&w.e) <= seconds(110));
    world_done(&w);
}

static void test_coalescing(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "srtf", NULL);
    for (int i = 0; i < 100; i++)
        world_submit(&w, 5, one_gpu);
    world_end(&w, 5, 7);
    world_set_node(&w, 5, 0, NODE_DRAINING);
    world_set_node(&w, 5, 0, NODE_UP);
    assert_int_equal(w.e.decisions, 0);
    world_take(&w, 5, (struct event){.kind = EVENT_TICK});
    assert_int_equal(w.e.decisions, 1);
    assert_int_equal(w.e.running.n, 4);
    /* With nothing new a tick decides nothing. */
    world_take(&w, 6, (struct event){.kind = EVENT_TICK});
    assert_int_equal(w.e.decisions, 1);
    assert_int_equal(w.e.effects.n, 0);
    world_done(&w);
}

static void test_resched_min(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", &(struct world_options){.resched_min = seconds(30)});
    world_submit(&w, 0, one_gpu);
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n"); /* the first one does not wait */
    world_submit(&w, 1, one_gpu);
    assert_int_equal(engine_due(&w.e), seconds(30));
    world_take(&w, 29, (struct event){.kind = EVENT_TICK});
    assert_int_equal(w.e.decisions, 1); /* not yet */
    world_submit(&w, 29, one_gpu);
    world_decide(&w, 30, "t=30 start b 1 on n1:1\nt=30 start c 1 on n1:1\n");
    assert_true(engine_due(&w.e) == USEC_NEVER);
    world_submit(&w, 100, one_gpu); /* long after the last one: at once */
    world_decide(&w, 100, "t=100 start d 1 on n1:1\n");
    world_done(&w);
}

static void test_wake(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1", "las:thresholds=60:knob=0", NULL);
    struct job like = one_gpu;
    like.work = 1000e6;
    world_submit(&w, 0, like);
    world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 list a allocate 0->1\n");
    /* Nothing will happen but that a reaches its threshold. */
    assert_int_equal(engine_due(&w.e), seconds(60));
    world_decide(&w, 60, "t=60 preempt a 1\nt=60 start b 1 on n1:1\nt=60 list b allocate 0->1\n");
    assert_int_equal(engine_due(&w.e), seconds(120));
    world_done(&w);
}

static void test_wake_keeps_its_distance(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1", "las:thresholds=60:knob=0",
               &(struct world_options){.resched_min = seconds(100)});
    struct job like = one_gpu;
    like.work = 1000e6;
    world_submit(&w, 0, like);
    world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 list a allocate 0->1\n");
    assert_int_equal(engine_due(&w.e), seconds(100));
    world_done(&w);
}

/* A policy that wants to be woken in the past. */
static void wake_in_the_past(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    plan_wake(plan, s->now - 5);
}

static void test_wake_in_the_past(void **state)
{
    (void)state;
    static const struct policy restless = {
        .axis = AXIS_ALLOCATE, .name = "restless", .decide = wake_in_the_past};
    struct world w;
    world_init(&w, "1x1", "fifo", NULL);
    w.e.config.combo.policy[AXIS_ALLOCATE] = &restless;
    world_submit(&w, 10, one_gpu);
    world_decide(&w, 10, "");
    assert_int_equal(engine_due(&w.e), seconds(10) + 1); /* time goes on all the same */
    world_done(&w);
}

/* The long job of the tests below: 3 or 4 units, a resize costs 20 s. */
static uint32_t submit_elastic(struct world *w, double work)
{
    struct job like = {.pool = POOL_GPU,
                       .kind = JOB_MALLEABLE,
                       .min = 3 * UNIT,
                       .max = 4 * UNIT,
                       .work = work * 1e6,
                       .cost = {.resize = seconds(20)}};
    return world_submit(w, 0, like);
}

static void test_hysteresis_in_time(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-fifo", NULL);
    uint32_t a = submit_elastic(&w, 10000);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    uint32_t b = world_submit(&w, 10, one_gpu);
    world_decide(&w, 10, "t=10 resize a 4->3 on n1:3 stops 20\nt=10 start b 1 on n1:1\n");
    world_end(&w, 49, b);
    world_decide(&w, 49, ""); /* less than twice the cost after the last change */
    world_set_node(&w, 50, 0, NODE_UP);
    world_decide(&w, 50, "t=50 resize a 3->4 on n1:4 stops 20\n");
    assert_int_equal(world_task(&w, a)->resizes, 2);
    world_done(&w);
}

static void test_hysteresis_in_gain(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-fifo", NULL);
    uint32_t small = world_submit(&w, 0, one_gpu), elastic = submit_elastic(&w, 500);
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 start b 3 on n1:3\n");
    world_end(&w, 100, small);
    /* 200 left: 66.7 s on 3 units, 50 s on 4. Not worth 20 s. */
    world_decide(&w, 100, "");
    assert_int_equal(world_task(&w, elastic)->n, 3 * UNIT);
    world_done(&w);
}

/* Jobs come and go every 5 s; the elastic one must not change each time. */
static void test_nothing_flaps(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "elastic-fifo", NULL);
    uint32_t a = submit_elastic(&w, 100000);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\n");
    for (int i = 0; i < 100; i++) {
        uint32_t b = world_submit(&w, 10 + 10 * i, one_gpu);
        world_take(&w, 10 + 10 * i, (struct event){.kind = EVENT_TICK});
        assert_true(task_running(world_task(&w, b)));
        world_end(&w, 15 + 10 * i, b);
        world_take(&w, 15 + 10 * i, (struct event){.kind = EVENT_TICK});
    }
    /* In 1000 s: a growth at the soonest 40 s after a change, so 50 at most. */
    assert_in_range(world_task(&w, a)->resizes, 1, 50);
    world_done(&w);
}

/* Of 7 units a has 4 and b 3. When c takes one, both are planned at 3. b gains
 * nothing by changing, so that what the plan moves about must come from a. */
static void test_only_who_must_changes(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x7", "elastic-fifo", NULL);
    uint32_t a = submit_elastic(&w, 10000), b = submit_elastic(&w, 10000);
    world_decide(&w, 0, "t=0 start a 4 on n1:4\nt=0 start b 3 on n1:3\n");
    world_submit(&w, 100, one_gpu);
    world_decide(&w, 100, "t=100 resize a 4->3 on n1:3 stops 20\nt=100 start c 1 on n1:1\n");
    assert_int_equal(world_task(&w, a)->n, 3 * UNIT);
    assert_int_equal(world_task(&w, b)->resizes, 0);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_due),
    TEST(test_coalescing),
    TEST(test_resched_min),
    TEST(test_wake),
    TEST(test_wake_keeps_its_distance),
    TEST(test_wake_in_the_past),
    TEST(test_hysteresis_in_time),
    TEST(test_hysteresis_in_gain),
    TEST(test_nothing_flaps),
    TEST(test_only_who_must_changes),
};

int main(void)
{
    return RUN(tests);
}
