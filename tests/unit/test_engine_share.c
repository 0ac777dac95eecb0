/* Tests of what tasks get of their nodes' CPUs: the division by limits and weights,
 * what a change of policy does to it, and what of FlowCon and TRADL no trace can
 * show: intervals that double, and metrics that rise. */
#include "policy/growth.h"
#include "support/test.h"
#include "support/world.h"

static usec_t seconds(double s)
{
    return (usec_t)(s * USEC_PER_SEC);
}

/* A job of one core that can use up to max. */
static struct job cores(units_t max, double work)
{
    return (struct job){.pool = POOL_CPU,
                        .kind = JOB_MALLEABLE,
                        .req = UNIT,
                        .min = UNIT,
                        .max = max * UNIT,
                        .work = work * 1e6,
                        .whole = true};
}

static void tick(struct world *w, double at)
{
    world_take(w, at, (struct event){.kind = EVENT_TICK});
}

/* What a monitor saw of the task. */
static void sample(struct world *w, double at, uint32_t task, double metric, double cpu_seconds)
{
    struct sample s = {.at = seconds(at), .metric = metric, .cpu_time = cpu_seconds * 1e6};
    world_take(w, at, (struct event){.kind = EVENT_SAMPLE, .task = task, .sample = &s});
}

static void test_free_share(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8c", "allocate=fifo,share=free", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800)), b = world_submit(&w, 0, cores(2, 800));
    tick(&w, 0);
    assert_near(world_task(&w, a)->cpu_used, 6000, 1e-9);
    assert_near(world_task(&w, b)->cpu_used, 2000, 1e-9);
    assert_near(world_task(&w, a)->rate, 6, 1e-12);
    world_end(&w, 10, b); /* what it leaves is used at once, before any decision */
    assert_near(world_task(&w, a)->cpu_used, 8000, 1e-9);
    assert_near(world_task(&w, a)->done, 60e6, 1e-3);
    assert_int_equal(task_end(world_task(&w, a), w.now), seconds(10 + 740.0 / 8));
    world_done(&w);
}

static void test_cpus_beside_gpus_are_not_shared(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2+8c", "allocate=fifo,share=free", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800));
    struct job like = {.pool = POOL_GPU, .req = 2 * UNIT, .cpus = 1500, .work = 100e6};
    tick(&w, 0);
    assert_near(world_task(&w, a)->cpu_used, 8000, 1e-9);
    uint32_t g = world_submit(&w, 1, like);
    tick(&w, 1);
    assert_near(world_task(&w, a)->cpu_used, 5000, 1e-9);
    assert_near(world_task(&w, g)->cpu_used, 3000, 1e-9);
    world_end(&w, 2, g);
    assert_near(world_task(&w, a)->cpu_used, 8000, 1e-9);
    world_done(&w);
}

/* A job on several nodes is not in the game: it has what it was granted. */
static void test_job_on_two_nodes(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x4c", "allocate=fifo,share=free", NULL);
    struct job wide = {.pool = POOL_CPU, .req = 6 * UNIT, .work = 600e6};
    uint32_t a = world_submit(&w, 0, wide), b = world_submit(&w, 0, cores(4, 100));
    tick(&w, 0);
    assert_int_equal(world_task(&w, a)->at.n, 2);
    assert_near(world_task(&w, a)->cpu_used, 6000, 1e-9);
    assert_near(world_task(&w, a)->rate, 6, 1e-12);
    assert_near(world_task(&w, b)->cpu_used, 2000, 1e-9);
    world_done(&w);
}

static void test_hard(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8c", "allocate=fifo,share=hard", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800));
    tick(&w, 0);
    assert_near(world_task(&w, a)->cpu_used, 1000, 0);
    assert_int_equal(world_task(&w, a)->cpu_limit, UNIT);
    world_done(&w);
}

static void switch_to(struct world *w, double at, const char *policy)
{
    struct combo combo;
    struct err err;
    assert_ok(combo_parse(policy, &combo, &err), err);
    world_take(w, at, (struct event){.kind = EVENT_POLICY, .combo = &combo});
    tick(w, at);
}

static void test_policy_switch(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8c", "allocate=fifo,share=hard", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800));
    tick(&w, 0);
    assert_near(world_task(&w, a)->rate, 1, 0);
    switch_to(&w, 10, "allocate=fifo,share=free");
    assert_near(world_task(&w, a)->rate, 8, 1e-12);
    assert_near(world_task(&w, a)->done, 10e6, 1e-3);
    switch_to(&w, 20, "allocate=fifo,share=hard");
    assert_near(world_task(&w, a)->rate, 1, 0);
    assert_near(world_task(&w, a)->done, 90e6, 1e-3);
    world_done(&w);
}

static void test_policy_switch_forgets(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x8c", "allocate=fifo,place=round-robin,share=flowcon", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800));
    tick(&w, 0);
    assert_int_equal(w.e.memo[AXIS_PLACE].i[0], 1);
    assert_true(w.e.node_memo[AXIS_SHARE][0].i[0] > 0);
    struct combo combo;
    struct err err;
    assert_ok(combo_parse("docker", &combo, &err), err);
    world_take(&w, 1, (struct event){.kind = EVENT_POLICY, .combo = &combo});
    assert_int_equal(w.e.memo[AXIS_PLACE].i[0], 0);
    assert_int_equal(w.e.node_memo[AXIS_SHARE][0].i[0], 0);
    assert_int_equal(world_task(&w, a)->memo[AXIS_SHARE].i[0], 0);
    assert_true(w.e.dirty);
    world_done(&w);
}

/* Two jobs whose metric no longer moves: new -> watching -> completing, then the
 * interval doubles each time, until somebody joins. */
static void test_flowcon_backs_off(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6)), b = world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    sample(&w, 0, a, 1, 0);
    sample(&w, 0, b, 1, 0);
    static const double runs[] = {20, 40, 60, 100, 180};
    static const double metrics[] = {0.5, 0.5, 0.5, 0.5, 0.5}; /* a peak, then nothing */
    static const double next[] = {40, 60, 100, 180, 340};
    static const enum growth_list lists[] = {GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING,
                                             GROWTH_COMPLETING, GROWTH_COMPLETING};
    for (size_t i = 0; i < COUNT_OF(runs); i++) {
        assert_int_equal(engine_due(&w.e), seconds(runs[i]));
        sample(&w, runs[i], a, metrics[i], 2 * runs[i]);
        sample(&w, runs[i], b, metrics[i], 2 * runs[i]);
        tick(&w, runs[i]);
        assert_int_equal(engine_due(&w.e), seconds(next[i]));
        assert_int_equal(world_task(&w, a)->memo[AXIS_SHARE].i[0], lists[i]);
    }
    /* The listener: one joins, it runs at once and the interval is as at first. */
    uint32_t c = world_submit(&w, 200, cores(4, 1e6));
    tick(&w, 200);
    assert_int_equal(engine_due(&w.e), seconds(220));
    sample(&w, 200, c, 1, 0);
    /* One leaves: the same. */
    world_end(&w, 210, c);
    tick(&w, 210);
    assert_int_equal(w.e.node_memo[AXIS_SHARE][0].i[1], seconds(40)); /* all completing again */
    world_done(&w);
}

static void test_flowcon_comes_back(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s:alpha=5", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6));
    world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    sample(&w, 0, a, 1, 0);
    static const double metrics[] = {0.5, 0.49, 0.489, 0.3};
    static const enum growth_list lists[] = {GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING,
                                             GROWTH_NEW};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        double at = 20 * (double)(i + 1);
        sample(&w, at, a, metrics[i], 2 * at);
        tick(&w, at);
        assert_int_equal(world_task(&w, a)->memo[AXIS_SHARE].i[0], lists[i]);
    }
    world_done(&w);
}

/* An accuracy that rises to its target, falls below it and rises again. */
static void test_target_that_rises(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=target:itval=10s:beta=2",
               &(struct world_options){.explain = true});
    struct job like = cores(4, 1e6);
    like.target = 0.9;
    uint32_t a = world_submit(&w, 0, like);
    like.target = 0;
    uint32_t b = world_submit(&w, 0, like);
    tick(&w, 0);
    sample(&w, 0, a, 0.1, 0);
    sample(&w, 0, b, 5, 0);
    static const double accuracy[] = {0.5, 0.91, 0.5, 0.95};
    static const bool content[] = {false, true, false, true};
    for (size_t i = 0; i < COUNT_OF(accuracy); i++) {
        double at = 10 * (double)(i + 1);
        sample(&w, at, a, accuracy[i], 2 * at);
        sample(&w, at, b, 5 - at / 20, 2 * at);
        tick(&w, at);
        /* The floor is 1/(2 x 2) of 4 cores. */
        assert_int_equal(w.e.why[a].why == WHY_TARGET, content[i]);
        if (content[i])
            assert_near(world_task(&w, a)->cpu_used, 1000, 1e-9);
        else
            assert_true(world_task(&w, a)->cpu_used > 1000);
    }
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_free_share),        TEST(test_cpus_beside_gpus_are_not_shared),
    TEST(test_job_on_two_nodes),  TEST(test_hard),
    TEST(test_policy_switch),     TEST(test_policy_switch_forgets),
    TEST(test_flowcon_backs_off), TEST(test_flowcon_comes_back),
    TEST(test_target_that_rises),
};

int main(void)
{
    return RUN(tests);
}
