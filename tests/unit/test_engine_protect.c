/* Tests of tasks that a decision leaves alone: those that would lose their work if they were
 * stopped, and those that were preempted a moment ago. */
#include "support/test.h"
#include "support/world.h"

static struct job cpus(units_t n, double work)
{
    return (struct job){.pool = POOL_CPU, .req = n * UNIT, .work = work * 1e6, .whole = true};
}

static struct job frozen(struct job like, int64_t memory_mb)
{
    like.can_pause = like.no_restart = true;
    like.memory_mb = memory_mb;
    return like;
}

static struct job urgent(struct job like, int64_t memory_mb)
{
    like.priority = 1;
    like.memory_mb = memory_mb;
    return like;
}

/* It is frozen, and named is who gets its CPUs. */
static void test_frozen_if_memory_can_stay(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c@8g", "elastic-fifo", NULL);
    uint32_t a = world_submit(&w, 0, frozen(cpus(2, 100), 4000));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 10, urgent(cpus(2, 20), 4000));
    world_decide(&w, 10, "t=10 pause a 2\nt=10 start b 2 on n1:2\n");
    assert_int_equal(w.e.effects.at[0].by, b);
    assert_int_equal(w.e.effects.at[1].by, TASK_NONE);
    world_end(&w, 20, b);
    world_decide(&w, 20, "t=20 resume a 2 on n1:2\n");
    assert_int_equal(world_task(&w, a)->done, 20e6); /* nothing was lost */
    world_done(&w);
}

/* Its memory is nobody else's. So the urgent job has no place, and the other is left alone,
 * whether the job must fit on one node or not. */
static void test_left_alone_otherwise(void **state)
{
    (void)state;
    static const char *const policies[] = {"elastic-fifo", "srtf", "fifo", "srsf", "edf", "equal"};
    for (size_t i = 0; i < 2 * COUNT_OF(policies); i++) {
        struct world w;
        struct job big = urgent(cpus(2, 1), 4500);
        big.whole = i % 2;
        world_init(&w, "1x2c@8g", policies[i / 2], NULL);
        world_submit(&w, 0, frozen(cpus(2, 100), 4000));
        world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
        world_submit(&w, 10, big);
        world_decide(&w, 10, "");
        world_done(&w);
    }
}

/* While it is frozen, too, its memory stays its own. */
static void test_frozen_keeps_memory(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c@8g", "elastic-fifo", NULL);
    uint32_t a = world_submit(&w, 0, frozen(cpus(2, 100), 4000));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 10, urgent(cpus(2, 20), 1000));
    world_decide(&w, 10, "t=10 pause a 2\nt=10 start b 2 on n1:2\n");
    world_submit(&w, 11, urgent(cpus(2, 20), 5000));
    world_end(&w, 12, b);
    world_decide(&w, 12, "t=12 resume a 2 on n1:2\n");
    world_end(&w, 20, a);
    world_decide(&w, 20, "t=20 start c 2 on n1:2\n");
    world_done(&w);
}

/* A frozen job waits for its node; it is not thrown off when that is drained. */
static void test_frozen_stays_on_a_drained_node(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    world_init(&w, "2x2c@8g", "elastic-fifo", NULL);
    uint32_t a = world_submit(&w, 0, frozen(cpus(2, 100), 0));
    world_submit(&w, 0, cpus(2, 1000));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\nt=0 start b 2 on n2:2\n");
    uint32_t c = world_submit(&w, 1, urgent(cpus(2, 20), 0));
    uint32_t d = world_submit(&w, 1, urgent(cpus(2, 20), 0));
    world_decide(&w, 1,
                 "t=1 pause a 2\nt=1 preempt b 2\nt=1 start c 2 on n1:2\nt=1 start d 2 on n2:2\n");
    world_set_node(&w, 2, 0, NODE_DRAINING);
    world_expect(&w, "");
    world_decide(&w, 2, "");
    struct event hold = {.kind = EVENT_HOLD, .task = a};
    assert_int_equal(engine_step(&w.e, &hold, w.now, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    world_end(&w, 3, c);
    world_end(&w, 3, d);
    world_decide(&w, 3, "t=3 start b 2 on n2:2\n");
    world_set_node(&w, 4, 0, NODE_UP);
    world_decide(&w, 4, "t=4 resume a 2 on n1:2\n");
    world_done(&w);
}

/* The first preemption is at once; the next one when it has run for min_run. */
static void test_minimum_run_time(void **state)
{
    (void)state;
    struct world w;
    struct world_options o = {.min_run = 60 * USEC_PER_SEC};
    world_init(&w, "1x2c", "elastic-fifo", &o);
    uint32_t a = world_submit(&w, 0, cpus(2, 1000));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    uint32_t b = world_submit(&w, 1, urgent(cpus(2, 20), 0));
    world_decide(&w, 1, "t=1 preempt a 2\nt=1 start b 2 on n1:2\n");
    world_end(&w, 11, b);
    world_decide(&w, 11, "t=11 start a 2 on n1:2\n");
    world_submit(&w, 12, urgent(cpus(2, 20), 0));
    world_decide(&w, 12, "");
    assert_true(world_task(&w, a)->pinned);
    assert_int_equal(engine_due(&w.e), 71 * USEC_PER_SEC);
    world_decide(&w, 71, "t=71 preempt a 2\nt=71 start c 2 on n1:2\n");
    assert_int_equal(w.e.snapshot.npinned, 0);
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frozen_if_memory_can_stay),
        cmocka_unit_test(test_left_alone_otherwise),
        cmocka_unit_test(test_frozen_keeps_memory),
        cmocka_unit_test(test_frozen_stays_on_a_drained_node),
        cmocka_unit_test(test_minimum_run_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
