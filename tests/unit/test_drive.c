/* Tests of virtual time: when tasks end, and when an engine has nothing more to do. */
#include "engine/drive.h"
#include "support/test.h"
#include "support/world.h"

static usec_t seconds(double s)
{
    return (usec_t)(s * USEC_PER_SEC);
}

static struct job gpus(units_t n, double work)
{
    return (struct job){.pool = POOL_GPU, .req = n * UNIT, .work = work * 1e6};
}

/* Ends all tasks whose end is due; returns how many. */
static uint32_t end_due(struct drive *d, uint32_t *tasks, usec_t *ends)
{
    struct err err;
    uint32_t n = 0;
    while (drive_take_ended(d, &tasks[n], &ends[n])) {
        struct event end = {.kind = EVENT_END, .task = tasks[n++]};
        assert_ok(drive_step(d, &end, &err), err);
    }
    return n;
}

static void test_ends_in_order(void **state)
{
    (void)state;
    struct world w;
    struct drive d;
    struct err err;
    uint32_t tasks[3];
    usec_t ends[3];
    world_init(&w, "1x4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, gpus(1, 30)), b = world_submit(&w, 0, gpus(1, 20));
    uint32_t c = world_submit(&w, 0, gpus(1, 20));
    drive_init(&d, &w.e, 0);
    assert_int_equal(drive_next(&d), 0); /* it wants to decide */
    assert_true(drive_is_due(&d));
    assert_ok(drive_tick(&d, &err), err);
    assert_int_equal(drive_next(&d), seconds(20));
    d.now = seconds(20);
    assert_int_equal(end_due(&d, tasks, ends), 2);
    assert_int_equal(tasks[0], b);
    assert_int_equal(tasks[1], c);
    assert_int_equal(ends[1], seconds(20));
    assert_ok(drive_tick(&d, &err), err);
    d.now = drive_next(&d);
    assert_int_equal(end_due(&d, tasks, ends), 1);
    assert_int_equal(tasks[0], a);
    assert_int_equal(ends[0], seconds(30));
    drive_done(&d);
    world_done(&w);
}

/* It takes over an engine whose tasks run, and follows changes of their speed. */
static void test_takes_over(void **state)
{
    (void)state;
    struct world w;
    struct drive d;
    struct err err;
    world_init(&w, "1x8c", "allocate=fifo,share=free", NULL);
    struct job like = {.kind = JOB_MALLEABLE, .min = UNIT, .max = 8 * UNIT, .work = 80e6};
    world_submit(&w, 0, like);
    uint32_t b = world_submit(&w, 0, like);
    world_take(&w, 0, (struct event){.kind = EVENT_TICK});
    drive_init(&d, &w.e, seconds(10));
    assert_int_equal(drive_next(&d), seconds(20)); /* 80 s of work on 4 of 8 CPUs */
    assert_ok(drive_step(&d, &(struct event){.kind = EVENT_END, .task = b}, &err), err);
    assert_ok(drive_tick(&d, &err), err);
    assert_int_equal(drive_next(&d), seconds(15)); /* half of it is left, on all of them */
    drive_done(&d);
    world_done(&w);
}

static void test_end_grain(void **state)
{
    (void)state;
    struct world w;
    struct drive d;
    struct err err;
    world_init(&w, "1x4", "fifo", NULL);
    world_submit(&w, 0, gpus(3, 10));
    drive_init(&d, &w.e, 0);
    d.end_grain = USEC_PER_SEC;
    assert_ok(drive_tick(&d, &err), err);
    assert_int_equal(drive_next(&d), seconds(4));
    drive_done(&d);
    world_done(&w);
}

static void decide_nothing(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)p;
    plan_wake(plan, s->now + USEC_PER_SEC);
}

/* A policy that wakes up again and again over an idle cluster is not waited for. */
static void test_gives_up(void **state)
{
    (void)state;
    static const struct policy restless = {.axis = AXIS_ALLOCATE, .decide = decide_nothing};
    struct world w;
    struct drive d;
    struct err err;
    int ticks = 0;
    world_init(&w, "1x4", "fifo", NULL);
    const struct policy *fifo = w.e.config.combo.policy[AXIS_ALLOCATE];
    w.e.config.combo.policy[AXIS_ALLOCATE] = &restless;
    world_submit(&w, 0, gpus(4, 40));
    drive_init(&d, &w.e, 0);
    for (usec_t next; (next = drive_next(&d)) != USEC_NEVER && ticks < 5000; ticks++) {
        d.now = next;
        assert_ok(drive_tick(&d, &err), err);
    }
    assert_in_range(ticks, 100, 2000);
    w.e.config.combo.policy[AXIS_ALLOCATE] = fifo;
    d.now += USEC_PER_SEC;
    assert_true(drive_is_due(&d)); /* it is still asked whenever something else happens */
    assert_ok(drive_tick(&d, &err), err);
    assert_int_equal(drive_next(&d), d.now + seconds(10));
    drive_done(&d);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_ends_in_order),
    TEST(test_takes_over),
    TEST(test_end_grain),
    TEST(test_gives_up),
};

int main(void)
{
    return RUN(tests);
}
