/* Tests of what tasks get of their nodes' CPUs: the division by limits and weights,
 * what a change of policy does to it, and what of FlowCon and TRADL no trace can
 * show: intervals that double, and metrics that rise. */
#include "policy/combo.h"
#include "policy/share/growth.h"
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

/* Whoever gets more or fewer CPUs is told so in that step, and nobody else. */
static void test_neighbours_are_told(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2+8c,1x8c", "allocate=fifo,place=spread,share=free", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800));
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 share a 8 of limit 8 weight 1\n");
    world_submit(&w, 1, cores(8, 800)); /* on the other node */
    world_decide(&w, 1, "t=1 start b 1 on n2:1\nt=1 share b 8 of limit 8 weight 1\n");
    uint32_t c = world_submit(&w, 2, cores(2, 800));
    world_decide(&w, 2,
                 "t=2 start c 1 on n1:1\nt=2 share c 2 of limit 2 weight 1\n"
                 "t=2 share a 6 of limit 8 weight 1\n");
    struct job gpu = {.pool = POOL_GPU, .req = 2 * UNIT, .cpus = 1500, .work = 100e6};
    uint32_t g = world_submit(&w, 3, gpu);
    world_decide(&w, 3, "t=3 start d 2 on n1:2\nt=3 share a 3 of limit 8 weight 1\n");
    world_end(&w, 4, g); /* before any decision */
    world_expect(&w, "t=4 share a 6 of limit 8 weight 1\n");
    assert_int_equal(w.e.stale.n, 1);
    assert_int_equal(w.e.stale.at[0], 0);
    world_take(&w, 5, (struct event){.kind = EVENT_FAILED, .task = c});
    world_expect(&w, "t=5 share a 8 of limit 8 weight 1\n");
    world_end(&w, 6, c);
    struct job less = *world_task(&w, a)->job;
    less.max = 4 * UNIT;
    world_take(&w, 7, (struct event){.kind = EVENT_JOB, .task = a, .job = &less});
    world_expect(&w, "t=7 share a 4 of limit 8 weight 1\n");
    world_decide(&w, 7, "t=7 share a 4 of limit 4 weight 1\n");
    world_done(&w);
}

/* Less than half a thousandth of a CPU is no change. */
static void test_small_changes_are_not_told(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8c", "allocate=fifo,share=free", NULL);
    uint32_t a = world_submit(&w, 0, cores(8, 800)), b = world_submit(&w, 0, cores(8, 800));
    tick(&w, 0);
    w.e.tasks[a].cpu_weight += 1e-6; /* as a sharer would, by a rounding */
    w.e.tasks[a].told.weight = w.e.tasks[a].cpu_weight;
    world_take(&w, 1, (struct event){.kind = EVENT_JOB, .task = a, .job = world_task(&w, a)->job});
    world_expect(&w, "");
    assert_true(world_task(&w, a)->cpu_used > 4000 && world_task(&w, b)->cpu_used < 4000);
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

/* A switch of the policy alone changes what jobs get, before the next decision. */
static void test_policy_switch_is_told(void **state)
{
    (void)state;
    struct world w;
    struct combo combo;
    struct err err;
    world_init(&w, "1x8c", "allocate=fifo,share=free", NULL);
    world_submit(&w, 0, cores(8, 800));
    world_decide(&w, 0, "t=0 start a 1 on n1:1\nt=0 share a 8 of limit 8 weight 1\n");
    assert_ok(combo_parse("allocate=fifo,share=hard", &combo, &err), err);
    world_take(&w, 1, (struct event){.kind = EVENT_POLICY, .combo = &combo});
    world_expect(&w, "t=1 share a 1 of limit 8 weight 1\n");
    world_decide(&w, 1, "t=1 share a 1 of limit 1 weight 1\n");
    world_done(&w);
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

/* How much a job asks for depends on the policy in force: where CPUs are shared, as few as
 * it runs on. */
static void test_policy_switch_changes_requests(void **state)
{
    (void)state;
    struct world w;
    struct job like = cores(8, 1e6);
    like.req = 8 * UNIT;
    world_init(&w, "1x8c", "allocate=fifo,share=hard", NULL);
    uint32_t a = world_submit(&w, 0, like), b = world_submit(&w, 0, like);
    like.kind = JOB_MOLDABLE;
    uint32_t c = world_submit(&w, 0, like);
    world_decide(&w, 0, "t=0 start a 8 on n1:8\n");
    switch_to(&w, 10, "allocate=fifo,share=free");
    assert_int_equal(world_task(&w, a)->n, UNIT);
    assert_int_equal(world_task(&w, b)->n, UNIT);
    assert_int_equal(world_task(&w, c)->n, UNIT);
    assert_near(world_task(&w, a)->cpu_used, 8000.0 / 3, 1e-9);
    uint32_t d = world_submit(&w, 15, like);
    assert_int_equal(world_task(&w, d)->asked, UNIT);
    switch_to(&w, 20, "allocate=fifo,share=hard");
    assert_int_equal(world_task(&w, d)->asked, 8 * UNIT); /* it waits; the others stay */
    assert_int_equal(world_task(&w, a)->n, UNIT);
    assert_int_equal(world_task(&w, d)->phase, TASK_QUEUED);
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
        assert_int_equal(growth_list(&world_task(&w, a)->memo[AXIS_SHARE]), lists[i]);
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
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s:alpha=1", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6)), b = world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    sample(&w, 0, a, 1, 0);
    sample(&w, 0, b, 1, 0);
    static const double metrics[] = {0.5, 0.49, 0.489, 0.3}; /* half of the node is used */
    static const enum growth_list lists[] = {GROWTH_NEW, GROWTH_WATCHING, GROWTH_COMPLETING,
                                             GROWTH_NEW};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        double at = 20 * (double)(i + 1);
        sample(&w, at, a, metrics[i], 2 * at);
        sample(&w, at, b, at, 2 * at); /* it keeps the node from free competition */
        tick(&w, at);
        assert_int_equal(growth_list(&world_task(&w, a)->memo[AXIS_SHARE]), lists[i]);
    }
    world_done(&w);
}

/* What the policy of the axis says of the task. */
static struct remark remark_on(struct world *w, enum axis axis, uint32_t task)
{
    const struct combo *c = &w->e.config.combo;
    const struct snapshot *s = engine_snapshot(&w->e, w->now);
    struct remark r = {0};
    assert_true(c->policy[axis]->describe(s, &c->params[axis], task, &r));
    return r;
}

static void test_flowcon_says_why(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s:alpha=0.5:beta=2", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6)), b = world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    struct remark r = remark_on(&w, AXIS_SHARE, a);
    assert_string_equal(r.list, "new");
    assert_string_equal(r.text, "Under flowcon it is in the list of new jobs: it has reported no "
                                "metric yet. It is not limited.");
    static const double metrics[] = {1, 0.5, 0.5, 0.5};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        sample(&w, 20 * (double)i, a, metrics[i], 40 * (double)i);
        sample(&w, 20 * (double)i, b, 1 - 0.1 * (double)i, 40 * (double)i);
        tick(&w, 20 * (double)i);
    }
    r = remark_on(&w, AXIS_SHARE, a);
    assert_string_equal(r.list, "completing");
    assert_string_equal(r.text,
                        "Under flowcon it is in the list of completing jobs: its growth is "
                        "0 % per second on all CPUs of its node, below the alpha of 0.5 %. It is "
                        "limited to 1 of the 4 CPUs while others want the rest.");
    assert_int_equal(world_task(&w, a)->list[AXIS_SHARE], 3);
    assert_int_equal(world_task(&w, b)->list[AXIS_SHARE], 1);
    assert_non_null(strstr(remark_on(&w, AXIS_SHARE, b).text, "its growth is 1 % per second on"));
    world_end(&w, 70, b);
    tick(&w, 70);
    r = remark_on(&w, AXIS_SHARE, a);
    assert_non_null(strstr(r.text, "it has been in the list of completing jobs for 10.0s:"));
    assert_non_null(strstr(r.text, "It is alone on its node and not limited."));
    world_done(&w);
}

/* A value that is repeated because there is no new one says nothing about growth. */
static void test_flowcon_waits_for_news(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6));
    world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    sample(&w, 0, a, 1, 0);
    sample(&w, 20, a, 0.5, 40);
    tick(&w, 20);
    struct sample s = {.metric = 0.5, .metric_at = seconds(20)};
    for (double at = 40; at <= 80; at += 20) {
        s.at = seconds(at);
        s.cpu_time = 2e6 * at;
        world_take(&w, at, (struct event){.kind = EVENT_SAMPLE, .task = a, .sample = &s});
        tick(&w, at);
        assert_int_equal(growth_list(&world_task(&w, a)->memo[AXIS_SHARE]), GROWTH_NEW);
    }
    sample(&w, 100, a, 0.5, 200); /* it has said so again */
    tick(&w, 100);
    assert_int_equal(growth_list(&world_task(&w, a)->memo[AXIS_SHARE]), GROWTH_WATCHING);
    tick(&w, 120); /* and nothing since */
    assert_int_equal(growth_list(&world_task(&w, a)->memo[AXIS_SHARE]), GROWTH_WATCHING);
    world_done(&w);
}

/* The next attempt counts its CPU time from zero: what it does is measured from there. */
static void test_flowcon_after_a_restart(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=flowcon:itval=20s:growth=peak", NULL);
    uint32_t a = world_submit(&w, 0, cores(4, 1e6));
    world_submit(&w, 0, cores(4, 1e6));
    tick(&w, 0);
    static const double metrics[] = {1, 0.5, 0.9, 0.5}, used[] = {0, 40, 10, 50};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        sample(&w, 20 * (double)i, a, metrics[i], used[i]);
        tick(&w, 20 * (double)i);
    }
    const struct memo *m = &world_task(&w, a)->memo[AXIS_SHARE];
    assert_near(m->d[2], 0.5 / (40 / 4.0), 1e-12);
    assert_near(m->d[3], 0.4 / 0.5, 1e-9);
    world_done(&w);
}

/* G is the change of the metric, over its first value, per second and per share of the resource
 * of the node: here half of 4 CPUs, a quarter of 8 GB, a tenth of 50 MB/s, and no network use. */
static void test_flowcon_growth_by_resource(void **state)
{
    (void)state;
    static const struct {
        const char *resource;
        double g; /* NAN = not measured */
    } cases[] = {
        {"cpu", 0.01 / 0.5}, {"memory", 0.01 / 0.25}, {"block", 0.01 / 0.1}, {"network", NAN}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world w;
        char policy[128];
        snprintf(policy, sizeof policy, "allocate=fifo,share=flowcon:resource=%s:bandwidth=50",
                 cases[i].resource);
        world_init(&w, "1x4c@8g", policy, NULL);
        uint32_t a = world_submit(&w, 0, cores(4, 1e6));
        world_submit(&w, 0, cores(4, 1e6));
        tick(&w, 0);
        for (double at = 0; at <= 60; at += 20) {
            struct sample s = {.at = seconds(at),
                               .metric = 5 - 0.05 * at,
                               .cpu_time = 2e6 * at,
                               .memory_mb = 2048,
                               .block_bytes = 5e6 * at};
            world_take(&w, at, (struct event){.kind = EVENT_SAMPLE, .task = a, .sample = &s});
            tick(&w, at);
        }
        const struct memo *m = &world_task(&w, a)->memo[AXIS_SHARE];
        assert_int_equal(m->i[0] & GROWTH_MEASURED, isnan(cases[i].g) ? 0 : GROWTH_MEASURED);
        assert_int_equal(growth_list(m) == GROWTH_UNMEASURED, isnan(cases[i].g));
        if (!isnan(cases[i].g))
            assert_near(m->d[3], cases[i].g, 1e-9);
        world_done(&w);
    }
}

static void test_target_says_why(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c", "allocate=fifo,share=target:itval=10s:beta=2", NULL);
    struct job like = cores(4, 1e6);
    like.target = 0.5;
    uint32_t a = world_submit(&w, 0, like);
    like.target = NAN;
    uint32_t b = world_submit(&w, 0, like);
    tick(&w, 0);
    assert_non_null(strstr(remark_on(&w, AXIS_SHARE, a).text, "its target is 0.5"));
    static const double metrics[] = {1, 0.6, 0.4};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        sample(&w, 10 * (double)i, a, metrics[i], 20 * (double)i);
        sample(&w, 10 * (double)i, b, 5 - (double)i, 20 * (double)i);
        tick(&w, 10 * (double)i);
    }
    struct remark r = remark_on(&w, AXIS_SHARE, a);
    assert_string_equal(r.list, "reached");
    assert_string_equal(r.text,
                        "It has reached its target: its metric is 0.4, its target 0.5. It is "
                        "limited to 1 of the 4 CPUs while others want the rest.");
    r = remark_on(&w, AXIS_SHARE, b);
    assert_string_equal(r.list, "learning");
    assert_string_equal(r.text,
                        "Under target its share follows its growth: it has no target, and its "
                        "growth is 4 % per second on all CPUs of its node. It is not limited.");
    assert_int_equal(world_task(&w, a)->list[AXIS_SHARE], 3);
    assert_int_equal(world_task(&w, b)->list[AXIS_SHARE], 1);
    world_done(&w);
}

static void test_specon_says_why(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "2x4c", "allocate=fifo,place=specon:alpha=0.04:interval=30s,share=free", NULL);
    uint32_t a = world_submit(&w, 0, cores(2, 1e6));
    tick(&w, 0);
    struct remark r = remark_on(&w, AXIS_PLACE, a);
    assert_string_equal(r.list, "progressing");
    assert_string_equal(r.text, "Under specon it is progressing: its growth is not known yet.");
    static const double metrics[] = {5, 4.5, 4.45};
    for (size_t i = 0; i < COUNT_OF(metrics); i++) {
        sample(&w, 30 * (double)(i + 1), a, metrics[i], 60 * (double)i);
        tick(&w, 30 * (double)(i + 1));
    }
    r = remark_on(&w, AXIS_PLACE, a);
    assert_string_equal(r.list, "watching");
    assert_string_equal(r.text, "Under specon it slows down and is watched: its metric last moved "
                                "by 1 % of its first value.");
    assert_int_equal(world_task(&w, a)->list[AXIS_PLACE], 2);
    world_done(&w);
}

static void test_allocators_say_why(void **state)
{
    (void)state;
    static const struct {
        const char *policy, *text;
    } cases[] = {
        {"equal", "Under equal the 4 CPUs of its node are divided in equal parts among 2 jobs: it "
                  "has 2."},
        {"equal:variant=oldest", "Under equal the 4 CPUs of its node are divided the oldest first "
                                 "among 2 jobs: it has 3."},
        {"equal:variant=weight", "Under equal the 4 CPUs of its node are divided by weight among 2 "
                                 "jobs: it has 2 for its weight of 1 of 2."},
        {"equal:variant=static", "Under equal:variant=static it keeps the 1 CPUs that it started "
                                 "with."},
        {"las:thresholds=60/600", "Under las it is in queue 1, with 100 CPU-seconds of service; at "
                                  "600 it falls to queue 2."},
        {"las:thresholds=60",
         "Under las it is in queue 1, with 100 CPU-seconds of service, the last "
         "one."},
        {"deadline", "Under deadline it gets what jobs with deadlines leave, because it has none."},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world w;
        world_init(&w, "1x4c", cases[i].policy, NULL);
        uint32_t a = world_submit(&w, 0, cores(4, 1e6));
        world_submit(&w, 0, cores(4, 1e6));
        tick(&w, 0);
        w.now = seconds(100);
        assert_string_equal(remark_on(&w, AXIS_ALLOCATE, a).text, cases[i].text);
        world_done(&w);
    }
}

/* A job that dies and starts again where it was has joined, although nobody else
 * came or went: it competes freely at once. */
static void test_back_at_once(void **state)
{
    (void)state;
    static const char *const sharers[] = {"flowcon", "target"};
    for (size_t i = 0; i < COUNT_OF(sharers); i++) {
        struct world w;
        char policy[64];
        snprintf(policy, sizeof policy, "allocate=fifo,share=%s:itval=20s", sharers[i]);
        world_init(&w, "1x4c", policy, NULL);
        uint32_t a = world_submit(&w, 0, cores(4, 1e6));
        tick(&w, 0);
        assert_near(world_task(&w, a)->cpu_used, 4000, 1e-9);
        world_take(&w, 5, (struct event){.kind = EVENT_FAILED, .task = a});
        tick(&w, 5);
        assert_near(world_task(&w, a)->cpu_used, 4000, 1e-9);
        assert_int_equal(engine_due(&w.e), seconds(25));
        world_done(&w);
    }
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
    TEST(test_free_share),
    TEST(test_cpus_beside_gpus_are_not_shared),
    TEST(test_job_on_two_nodes),
    TEST(test_hard),
    TEST(test_policy_switch),
    TEST(test_policy_switch_changes_requests),
    TEST(test_policy_switch_is_told),
    TEST(test_neighbours_are_told),
    TEST(test_small_changes_are_not_told),
    TEST(test_policy_switch_forgets),
    TEST(test_flowcon_backs_off),
    TEST(test_flowcon_comes_back),
    TEST(test_back_at_once),
    TEST(test_target_that_rises),
    TEST(test_flowcon_says_why),
    TEST(test_flowcon_waits_for_news),
    TEST(test_flowcon_after_a_restart),
    TEST(test_flowcon_growth_by_resource),
    TEST(test_specon_says_why),
    TEST(test_target_says_why),
    TEST(test_allocators_say_why),
};

int main(void)
{
    return RUN(tests);
}
