/* Tests of model/task: progress between two changes, ends, checkpoints. */
#include "model/task.h"

#include "support/test.h"

static const struct speed linear = {NULL, NULL, 0, true};

static struct job plain_job(void)
{
    return (struct job){.req = 2 * UNIT,
                        .min = UNIT,
                        .max = 4 * UNIT,
                        .kind = JOB_MALLEABLE,
                        .speeds = &linear,
                        .nspeeds = 1};
}

/* Runs on two units since 100 s, on none of its progress before 110 s. */
static struct task running(const struct job *j)
{
    return (struct task){.job = j,
                         .phase = TASK_RUNNING,
                         .n = 2 * UNIT,
                         .work = 100e6,
                         .done = 20e6,
                         .saved = 20e6,
                         .attained = 5e6,
                         .rate = 2,
                         .cpu_used = 1500,
                         .cpu_busy = 1500,
                         .as_of = 100 * USEC_PER_SEC,
                         .ready_at = 110 * USEC_PER_SEC};
}

static void test_progress(void **state)
{
    (void)state;
    struct job j = plain_job();
    struct task t = running(&j);
    assert_near(task_done(&t, 100 * USEC_PER_SEC), 20e6, 0);
    assert_near(task_done(&t, 110 * USEC_PER_SEC), 20e6, 0); /* still restarting */
    assert_near(task_done(&t, 115 * USEC_PER_SEC), 30e6, 0);
    assert_near(task_remaining(&t, 115 * USEC_PER_SEC), 70e6, 0);
    assert_near(task_remaining(&t, 1000 * USEC_PER_SEC), 0, 0);
    assert_near(task_attained(&t, 115 * USEC_PER_SEC), 35e6, 0); /* it held them all the time */
    assert_near(task_cpu_time(&t, 115 * USEC_PER_SEC), 7.5e6, 0);
    assert_near(task_done(&t, 50 * USEC_PER_SEC), 20e6, 0);
}

static void test_end(void **state)
{
    (void)state;
    struct job j = plain_job();
    struct task t = running(&j);
    assert_int_equal(task_end(&t, 100 * USEC_PER_SEC), 150 * USEC_PER_SEC);
    assert_int_equal(task_end(&t, 120 * USEC_PER_SEC), 150 * USEC_PER_SEC);
    t.done = t.work;
    assert_int_equal(task_end(&t, 120 * USEC_PER_SEC), 120 * USEC_PER_SEC);
    t.rate = 0;
    assert_true(task_end(&t, 120 * USEC_PER_SEC) == USEC_NEVER);
    t = running(&j);
    t.rate = NAN;
    assert_true(task_end(&t, 120 * USEC_PER_SEC) == USEC_NEVER);
    t.rate = 1e-12; /* ends behind what times can hold */
    assert_true(task_end(&t, 120 * USEC_PER_SEC) == USEC_NEVER);
}

static void test_time_on(void **state)
{
    (void)state;
    struct job j = plain_job();
    struct task t = running(&j);
    usec_t now = 110 * USEC_PER_SEC;
    assert_near(task_time_on(&t, POOL_GPU, 4 * UNIT, now), 20e6, 0);
    assert_near(task_time_on(&t, POOL_GPU, 500, now), 160e6, 0);
    assert_near(task_time_on(&t, POOL_GPU, 0, now), INFINITY, 0);
}

static void test_advance(void **state)
{
    (void)state;
    struct job j = plain_job();
    struct task t = running(&j);
    task_advance(&t, 115 * USEC_PER_SEC);
    assert_near(t.done, 30e6, 0);
    assert_near(t.saved, 30e6, 0);
    assert_near(t.attained, 35e6, 0);
    assert_near(t.cpu_time, 7.5e6, 0);
    assert_int_equal(t.as_of, 115 * USEC_PER_SEC);
    task_advance(&t, 90 * USEC_PER_SEC); /* never back */
    assert_near(t.done, 30e6, 0);
    assert_int_equal(t.as_of, 115 * USEC_PER_SEC);
}

/* In one step or in many, the sums are the same. */
static void test_advance_in_steps(void **state)
{
    (void)state;
    struct job j = plain_job();
    j.cost.checkpoint = 7 * USEC_PER_SEC;
    struct task once = running(&j), steps = running(&j);
    task_advance(&once, 140 * USEC_PER_SEC);
    for (int s = 101; s <= 140; s++)
        task_advance(&steps, s * USEC_PER_SEC);
    assert_near(steps.done, once.done, 1e-3);
    assert_near(steps.saved, once.saved, 1e-3);
    assert_near(steps.attained, once.attained, 1e-3);
    assert_near(steps.cpu_time, once.cpu_time, 1e-3);
}

static void test_checkpoints(void **state)
{
    (void)state;
    struct job j = plain_job();
    j.cost.checkpoint = 10 * USEC_PER_SEC;
    struct task t = running(&j);
    task_advance(&t, 119 * USEC_PER_SEC);
    assert_near(t.saved, 20e6, 0); /* none yet */
    task_advance(&t, 125 * USEC_PER_SEC);
    assert_near(t.done, 50e6, 0);
    assert_near(t.saved, 40e6, 0); /* the one at 120 s */
    task_advance(&t, 141 * USEC_PER_SEC);
    assert_near(t.saved, 80e6, 0);
    t.rate = 0; /* frozen: time passes, nothing is saved */
    task_advance(&t, 200 * USEC_PER_SEC);
    assert_near(t.done, 82e6, 0);
    assert_near(t.saved, 80e6, 0);
}

static void test_sizes(void **state)
{
    (void)state;
    struct job j = plain_job();
    struct task t = running(&j);
    t.n = 3 * UNIT;
    t.most = t.asked = 4 * UNIT;
    assert_int_equal(task_min(&t), UNIT);
    assert_int_equal(task_max(&t), 4 * UNIT);
    assert_int_equal(task_asked(&t), 3 * UNIT);
    t.asked = 2 * UNIT; /* it was let grow: it can give that back */
    assert_int_equal(task_asked(&t), 2 * UNIT);
    j.kind = JOB_MOLDABLE;
    assert_int_equal(task_asked(&t), 3 * UNIT);
    assert_int_equal(task_min(&t), 3 * UNIT);
    assert_int_equal(task_max(&t), 3 * UNIT);
    t.phase = TASK_QUEUED;
    assert_int_equal(task_min(&t), UNIT);
    assert_int_equal(task_max(&t), 4 * UNIT);
    t.asked = 2 * UNIT;
    assert_int_equal(task_asked(&t), 2 * UNIT);
    assert_false(task_running(&t));
}

static const struct CMUnitTest tests[] = {
    TEST(test_progress),         TEST(test_end),         TEST(test_time_on), TEST(test_advance),
    TEST(test_advance_in_steps), TEST(test_checkpoints), TEST(test_sizes),
};

int main(void)
{
    return RUN(tests);
}
