/* Tests of tasks that share units: who holds them, how fast each one is, and what happens when one
 * ends, fails or is taken off. */
#include "support/test.h"
#include "support/world.h"

/* One reads, the other computes: together each is at 1 / 1.3103 of its speed or less. */
static const struct sharing reads = {.kind = 0, .step = 10, .stage = {10, 0, 0}};
static const struct sharing computes = {.kind = 1, .step = 10, .stage = {0, 10, 0}};
static const double together = 1.015 / 1.33;

static struct job job(units_t n, double work, const struct sharing *sharing)
{
    return (struct job){
        .pool = POOL_GPU, .req = n * UNIT, .work = work * 1e6 * (double)n, .sharing = sharing};
}

static void start_both(struct world *w, uint32_t *a, uint32_t *b)
{
    world_init(w, "1x2", "muri", NULL);
    *a = world_submit(w, 0, job(2, 50, &reads));
    *b = world_submit(w, 0, job(2, 60, &computes));
    world_decide(w, 0, "t=0 start a 2 on n1:2\nt=0 start b 2 with a\n");
}

static void test_both_run(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    start_both(&w, &a, &b);
    assert_int_equal(world_task(&w, a)->phase, TASK_RUNNING);
    assert_int_equal(world_task(&w, b)->phase, TASK_RIDING);
    assert_int_equal(world_task(&w, b)->n, 0);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 2 * UNIT);
    assert_near(world_task(&w, a)->rate, 2 * together, 1e-9);
    assert_near(world_task(&w, b)->rate, 2 * together, 1e-9);
    world_done(&w);
}

/* The other one takes the units over, and runs at full speed. */
static void test_host_ends(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    start_both(&w, &a, &b);
    world_end(&w, 10, a);
    assert_int_equal(world_task(&w, b)->phase, TASK_RUNNING);
    assert_int_equal(world_task(&w, b)->n, 2 * UNIT);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 2 * UNIT);
    assert_near(world_task(&w, b)->rate, 2, 1e-9);
    world_decide(&w, 10, "");
    assert_near(task_attained(world_task(&w, b), 20 * USEC_PER_SEC), 2 * 10 * USEC_PER_SEC, 1);
    world_end(&w, 20, b);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 0);
    world_done(&w);
}

static void test_rider_ends(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    start_both(&w, &a, &b);
    world_end(&w, 10, b);
    assert_near(world_task(&w, a)->rate, 2, 1e-9);
    assert_near(task_done(world_task(&w, a), 20 * USEC_PER_SEC),
                (10 * together + 10) * 2 * USEC_PER_SEC, 1);
    world_decide(&w, 10, "");
    world_done(&w);
}

static void test_both_fail(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    start_both(&w, &a, &b);
    world_set_node(&w, 10, 0, NODE_DOWN);
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    assert_int_equal(world_task(&w, b)->phase, TASK_QUEUED);
    assert_int_equal(world_task(&w, b)->failures, 1);
    assert_int_equal(task_run_time(world_task(&w, b), 10 * USEC_PER_SEC), 10 * USEC_PER_SEC);
    world_done(&w);
}

static void test_rider_fails(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    start_both(&w, &a, &b);
    world_take(&w, 10, (struct event){.kind = EVENT_FAILED, .task = b});
    assert_int_equal(world_task(&w, b)->phase, TASK_QUEUED);
    assert_near(world_task(&w, a)->rate, 2, 1e-9);
    world_decide(&w, 10, "t=10 start b 2 with a\n");
    world_done(&w);
}

/* Another policy knows nothing of sharing. */
static void test_other_policy(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    struct combo combo;
    struct err err;
    start_both(&w, &a, &b);
    assert_ok(combo_parse("fifo", &combo, &err), err);
    world_take(&w, 10, (struct event){.kind = EVENT_POLICY, .combo = &combo});
    world_decide(&w, 10, "t=10 preempt b 0\n");
    assert_int_equal(world_task(&w, b)->phase, TASK_QUEUED);
    assert_near(world_task(&w, a)->rate, 2, 1e-9);
    world_done(&w);
}

/* A job that needs memory has its units for itself. */
static void test_not_shared(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "muri", NULL);
    struct job needs = job(2, 60, &computes);
    needs.memory_mb = 1;
    world_submit(&w, 0, job(2, 50, &reads));
    world_submit(&w, 0, needs);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    world_done(&w);
}

static void test_terms(void **state)
{
    (void)state;
    struct world w;
    uint32_t a, b;
    struct err err;
    start_both(&w, &a, &b);
    struct job other = *world_task(&w, b)->job;
    other.sharing = NULL;
    struct event event = {.kind = EVENT_JOB, .task = b, .job = &other};
    assert_int_equal(engine_step(&w.e, &event, 5 * USEC_PER_SEC, &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_both_run),    TEST(test_host_ends),    TEST(test_rider_ends), TEST(test_both_fail),
    TEST(test_rider_fails), TEST(test_other_policy), TEST(test_not_shared), TEST(test_terms)};

int main(void)
{
    return RUN(tests);
}
