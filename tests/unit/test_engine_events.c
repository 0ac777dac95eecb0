/* Tests of the engine's events: which it takes in which phase of a task, what it
 * says of the others, and what each leaves behind. */
#include "support/test.h"
#include "support/world.h"

static const struct job two_gpus = {.pool = POOL_GPU, .req = 2 * UNIT, .work = 200e6};

/* An event that must fail, and changes nothing. */
static void refuse(struct world *w, struct event event, enum err_code code, const char *words)
{
    struct err err;
    uint32_t active = w->e.snapshot.active;
    size_t running = w->e.running.n;
    bool dirty = w->e.dirty;
    assert_error(engine_step(&w->e, &event, w->now, &err), err, code, words);
    assert_int_equal(w->e.snapshot.active, active);
    assert_int_equal(w->e.running.n, running);
    assert_int_equal(w->e.dirty, dirty);
}

static void refuse_task(struct world *w, enum event_kind kind, uint32_t task, const char *words)
{
    refuse(w, (struct event){.kind = kind, .task = task}, ERR_CONFLICT, words);
}

static void test_unknown(void **state)
{
    (void)state;
    static const enum event_kind kinds[] = {EVENT_END,   EVENT_STOPPED,  EVENT_FAILED,
                                            EVENT_HOLD,  EVENT_RELEASE,  EVENT_SAMPLE,
                                            EVENT_READY, EVENT_PROGRESS, EVENT_JOB};
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    world_end(&w, 1, a);
    for (size_t i = 0; i < COUNT_OF(kinds); i++) {
        refuse(&w, (struct event){.kind = kinds[i], .task = 7}, ERR_NOT_FOUND, "no task 7");
        refuse(&w, (struct event){.kind = kinds[i], .task = TASK_NONE}, ERR_NOT_FOUND, "no task");
        refuse(&w, (struct event){.kind = kinds[i], .task = a}, ERR_NOT_FOUND, "no task 0");
    }
    refuse(&w, (struct event){.kind = EVENT_NODE, .node = 1}, ERR_NOT_FOUND, "no node 1");
    world_done(&w);
}

static void test_queued(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    refuse_task(&w, EVENT_STOPPED, a, "stopped: the job is queued");
    refuse_task(&w, EVENT_FAILED, a, "failed: the job is queued");
    refuse_task(&w, EVENT_RELEASE, a, "release: the job is queued");
    assert_int_equal(world_task(&w, a)->phase, TASK_QUEUED);
    world_done(&w);
}

static void test_running(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    refuse_task(&w, EVENT_STOPPED, a, "stopped: the job is running");
    refuse_task(&w, EVENT_HOLD, a, "hold: the job is running");
    refuse_task(&w, EVENT_RELEASE, a, "release: the job is running");
    world_done(&w);
}

static void test_held(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    world_take(&w, 10, (struct event){.kind = EVENT_HOLD, .task = a});
    assert_int_equal(world_task(&w, a)->wait_time, 10 * USEC_PER_SEC);
    refuse_task(&w, EVENT_HOLD, a, "hold: the job is held");
    refuse_task(&w, EVENT_STOPPED, a, "stopped: the job is held");
    refuse_task(&w, EVENT_FAILED, a, "failed: the job is held");
    world_decide(&w, 10, ""); /* it must not start */
    world_take(&w, 50, (struct event){.kind = EVENT_RELEASE, .task = a});
    world_decide(&w, 50, "t=50 start a 2 on n1:2\n");
    /* The time on hold is the user's, not the scheduler's. */
    assert_int_equal(world_task(&w, a)->wait_time, 10 * USEC_PER_SEC);
    world_done(&w);
}

static void test_end_in_every_phase(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", &(struct world_options){.slow_stops = true});
    uint32_t queued = world_submit(&w, 0, two_gpus);
    world_end(&w, 1, queued);
    uint32_t held = world_submit(&w, 2, two_gpus);
    world_take(&w, 2, (struct event){.kind = EVENT_HOLD, .task = held});
    world_end(&w, 3, held);
    uint32_t running = world_submit(&w, 4, two_gpus);
    world_decide(&w, 4, "t=4 start c 2 on n1:2\n");
    struct job shorter = two_gpus;
    shorter.work = 20e6;
    uint32_t next = world_submit(&w, 5, shorter);
    world_decide(&w, 5, "t=5 preempt c 2\n");
    assert_int_equal(world_task(&w, running)->phase, TASK_STOPPING);
    world_end(&w, 6, running); /* cancelled while it stops: its units are free */
    world_decide(&w, 6, "t=6 start d 2 on n1:2\n");
    world_end(&w, 7, next);
    assert_int_equal(w.e.snapshot.active, 0);
    assert_int_equal(w.e.cluster.nodes[0].gpu_held, 0);
    assert_int_equal(w.e.finished.total, 4);
    world_done(&w);
}

static void test_end_of_a_paused_job_frees_its_memory(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2@8g", "srtf", NULL);
    struct job like = two_gpus;
    like.can_pause = true;
    like.memory_mb = 5000;
    uint32_t a = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    struct job shorter = two_gpus;
    shorter.work = 20e6;
    world_submit(&w, 1, shorter);
    world_decide(&w, 1, "t=1 pause a 2\nt=1 start b 2 on n1:2\n");
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 5000);
    world_end(&w, 2, a);
    assert_int_equal(w.e.cluster.nodes[0].memory_held, 0);
    assert_int_equal(w.e.snapshot.npaused, 0);
    world_done(&w);
}

static void test_job_too_large(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x4+8c@16g", "fifo", NULL);
    struct job likes[] = {
        {.pool = POOL_GPU, .req = 9 * UNIT, .work = 1e6},
        {.pool = POOL_GPU, .req = 5 * UNIT, .work = 1e6, .whole = true},
        {.pool = POOL_GPU, .req = 8 * UNIT, .work = 1e6, .cpus = 4 * UNIT},
        {.pool = POOL_GPU, .req = UNIT, .work = 1e6, .memory_mb = 16385},
        {.pool = POOL_GPU + 1, .req = UNIT, .work = 1e6},
        {.pool = POOL_CPU, .req = 17 * UNIT, .work = 1e6},
    };
    for (size_t i = 0; i < COUNT_OF(likes); i++)
        refuse(&w, (struct event){.kind = EVENT_SUBMIT, .job = world_job(&w, likes[i])}, ERR_LIMIT,
               "the cluster has at most");
    assert_int_equal(w.e.tasks_n, 0);
    /* A node that is away does not make a job too large. */
    world_set_node(&w, 0, 0, NODE_DOWN);
    world_submit(&w, 1, (struct job){.pool = POOL_GPU, .req = 8 * UNIT, .work = 1e6});
    world_decide(&w, 1, "");
    world_set_node(&w, 2, 0, NODE_UP);
    world_decide(&w, 2, "t=2 start g 8 on n1:4 n2:4\n");
    world_done(&w);
}

static void test_slots_are_used_again(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4", "fifo", NULL);
    for (int i = 0; i < 1000; i++) {
        uint32_t task = world_submit(&w, i, two_gpus);
        assert_int_equal(task, 0);
        world_take(&w, i, (struct event){.kind = EVENT_TICK});
        world_end(&w, i + 0.5, task);
    }
    assert_int_equal(w.e.tasks_n, 1);
    world_done(&w);
}

/* Another job for the task: the same with other sizes. */
static const struct job *resized(struct world *w, const struct task *t, units_t min, units_t max)
{
    struct job *j = ARENA_NEW(&w->arena, struct job);
    *j = *t->job;
    j->min = min;
    j->max = max;
    j->req = min;
    return j;
}

static void test_changed_sizes(void **state)
{
    (void)state;
    static const char *const names[] = {"fifo",     "srtf", "elastic-fifo",
                                        "deadline", "ffdl", "equal"};
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        struct world w;
        world_init(&w, "1x8", names[i], NULL);
        struct job like = {
            .pool = POOL_GPU, .kind = JOB_MALLEABLE, .min = 2 * UNIT, .max = 3 * UNIT, .work = 1e9};
        uint32_t a = world_submit(&w, 0, like);
        world_take(&w, 0, (struct event){.kind = EVENT_TICK});
        assert_true(task_running(world_task(&w, a)));
        const struct job *larger = resized(&w, world_task(&w, a), 5 * UNIT, 6 * UNIT);
        world_take(&w, 1, (struct event){.kind = EVENT_JOB, .task = a, .job = larger});
        world_take(&w, 1, (struct event){.kind = EVENT_TICK});
        assert_in_range(world_task(&w, a)->n, 5 * UNIT, 6 * UNIT);
        const struct job *smaller = resized(&w, world_task(&w, a), UNIT, UNIT);
        world_take(&w, 2, (struct event){.kind = EVENT_JOB, .task = a, .job = smaller});
        world_take(&w, 2, (struct event){.kind = EVENT_TICK});
        assert_int_equal(world_task(&w, a)->n, UNIT);
        world_done(&w);
    }
}

static void test_changes_that_are_refused(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8+8c@16g", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    struct job *j = ARENA_NEW(&w.arena, struct job);
    struct event change = {.kind = EVENT_JOB, .task = a, .job = j};
    *j = *world_task(&w, a)->job;
    j->memory_mb = 100; /* while it waits, anything may change */
    world_take(&w, 0, change);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    struct job *k = ARENA_NEW(&w.arena, struct job);
    change.job = k;
    *k = *j;
    k->memory_mb = 200;
    refuse(&w, change, ERR_CONFLICT, "while the job holds units");
    *k = *j;
    k->cpus = UNIT;
    refuse(&w, change, ERR_CONFLICT, "while the job holds units");
    *k = *j;
    k->whole = true;
    refuse(&w, change, ERR_CONFLICT, "while the job holds units");
    *k = *j;
    k->min = k->max = k->req = 9 * UNIT;
    refuse(&w, change, ERR_LIMIT, "at most 8");
    world_done(&w);
}

static void test_progress_is_corrected(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, two_gpus);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    assert_int_equal(task_end(world_task(&w, a), w.now), 100 * USEC_PER_SEC);
    world_take(&w, 50,
               (struct event){.kind = EVENT_PROGRESS, .task = a, .work = 300e6, .done = 60e6});
    assert_int_equal(task_end(world_task(&w, a), w.now), 170 * USEC_PER_SEC);
    world_take(&w, 50, (struct event){.kind = EVENT_READY, .task = a, .at = 70 * USEC_PER_SEC});
    assert_int_equal(task_end(world_task(&w, a), w.now), 190 * USEC_PER_SEC);
    assert_int_equal(w.e.touched.n, 1);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_unknown),
    TEST(test_queued),
    TEST(test_running),
    TEST(test_held),
    TEST(test_end_in_every_phase),
    TEST(test_end_of_a_paused_job_frees_its_memory),
    TEST(test_job_too_large),
    TEST(test_slots_are_used_again),
    TEST(test_changed_sizes),
    TEST(test_changes_that_are_refused),
    TEST(test_progress_is_corrected),
};

int main(void)
{
    return RUN(tests);
}
