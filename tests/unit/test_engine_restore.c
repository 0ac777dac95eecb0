/* Tests of putting tasks back, as a server does that starts again, and of what is
 * refused there. */
#include "support/test.h"
#include "support/world.h"

#define SECOND (double)USEC_PER_SEC

static int restore(struct world *w, double at, const struct job *job, struct task was,
                   struct err *err)
{
    was.cpu_weight = was.cpu_weight > 0 ? was.cpu_weight : 1;
    struct event v = {.kind = EVENT_RESTORE, .job = job, .was = &was};
    return engine_step(&w->e, &v, (usec_t)(at * SECOND), err);
}

/* A running task, a paused one and a queued one go on in another engine. */
static void test_goes_on(void **state)
{
    (void)state;
    struct world a, b;
    struct err err;
    world_init(&a, "1x4c", "srtf", NULL);
    world_init(&b, "1x4c", "srtf", NULL);
    struct job like = {.req = 4 * UNIT, .work = 400 * SECOND, .can_pause = true};
    uint32_t first = world_submit(&a, 0, like);
    world_decide(&a, 0, "t=0 start a 4 on n1:4\n");
    like.work = 40 * SECOND;
    uint32_t second = world_submit(&a, 10, like);
    world_decide(&a, 10, "t=10 pause a 4\nt=10 start b 4 on n1:4\n");
    uint32_t third = world_submit(&a, 11, like);
    uint32_t tasks[] = {first, second, third};
    for (size_t i = 0; i < COUNT_OF(tasks); i++) {
        struct task was = *world_task(&a, tasks[i]);
        task_advance(&was, 15 * USEC_PER_SEC);
        assert_ok(restore(&b, 15, was.job, was, &err), err);
        const struct task *t = world_task(&b, b.e.submitted);
        assert_int_equal(t->phase, world_task(&a, tasks[i])->phase);
        assert_near(task_done(t, 15 * USEC_PER_SEC), task_done(&was, 15 * USEC_PER_SEC), 0);
    }
    world_decide(&b, 15, ""); /* nothing is better than what there is */
    assert_int_equal(task_end(world_task(&b, 1), 15 * USEC_PER_SEC), 20 * USEC_PER_SEC);
    world_end(&b, 20, 1);
    world_decide(&b, 20, "t=20 start c 4 on n1:4\n");
    world_done(&a);
    world_done(&b);
}

static void test_refuses_what_does_not_fit(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    struct slot slot = {0, 3 * UNIT}, twice[] = {{0, UNIT}, {0, UNIT}};
    struct task was = {.phase = TASK_RUNNING, .n = 3 * UNIT, .at = {&slot, 1}};
    world_init(&w, "1x4c@8g", "fifo", NULL);
    const struct job *job = world_job(&w, (struct job){.req = 3 * UNIT, .work = SECOND});
    const struct job *large =
        world_job(&w, (struct job){.req = UNIT, .work = SECOND, .memory_mb = 9000});
    assert_ok(restore(&w, 0, job, was, &err), err);
    assert_error(restore(&w, 0, job, was, &err), err, ERR_CONFLICT, "n1 would hold more");
    assert_int_equal(w.e.cluster.nodes[0].cpu_held, 3 * UNIT);
    slot.units = was.n = UNIT;
    assert_error(restore(&w, 0, large, was, &err), err, ERR_CONFLICT, "n1 would hold more");
    was.done = NAN;
    assert_error(restore(&w, 0, job, was, &err), err, ERR_INVALID, "a counter is out of range");
    was.done = 0;
    slot.node = 1;
    assert_error(restore(&w, 0, job, was, &err), err, ERR_INVALID, "node 1");
    was.at = (struct placement){twice, 2};
    assert_error(restore(&w, 0, job, was, &err), err, ERR_INVALID,
                 "node 0 does not exist, or is there");
    was.at = (struct placement){0};
    assert_error(restore(&w, 0, job, was, &err), err, ERR_INVALID, "units and places");
    was.phase = TASK_QUEUED;
    was.n = 0;
    was.pool = POOL_GPU;
    assert_ok(restore(&w, 0, job, was, &err), err);
    world_done(&w);
}

/* A task that was refused leaves nothing behind, not even a wish to decide. */
static void test_refusals_change_nothing(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    world_init(&w, "1x4c", "fifo", NULL);
    const struct job *job = world_job(&w, (struct job){.req = UNIT, .work = SECOND});
    world_take(&w, 0, (struct event){.kind = EVENT_TICK});
    usec_t due = engine_due(&w.e);
    assert_error(restore(&w, 1, job, (struct task){.phase = TASK_RUNNING, .n = UNIT}, &err), err,
                 ERR_INVALID, "units and places");
    assert_int_equal(engine_due(&w.e), due);
    assert_int_equal(w.e.tasks_n, 0);
    world_done(&w);
}

static void test_progress_is_an_amount(void **state)
{
    (void)state;
    struct world w;
    struct err err;
    static const double bad[] = {-1, NAN, INFINITY, 1e19};
    world_init(&w, "1x4c", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.req = UNIT, .work = SECOND});
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct event v = {.kind = EVENT_PROGRESS, .task = a, .work = bad[i], .done = 0};
        assert_error(engine_step(&w.e, &v, 0, &err), err, ERR_INVALID, "invalid progress");
        v = (struct event){.kind = EVENT_PROGRESS, .task = a, .work = 1, .done = bad[i]};
        assert_error(engine_step(&w.e, &v, 0, &err), err, ERR_INVALID, "invalid progress");
    }
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_goes_on),
    TEST(test_refuses_what_does_not_fit),
    TEST(test_refusals_change_nothing),
    TEST(test_progress_is_an_amount),
};

int main(void)
{
    return RUN(tests);
}
