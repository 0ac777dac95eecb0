/* Tests of tasks that must not be preempted: under every policy they go on where they
 * are, and a plan that would stop or move one is refused. */
#include "policy/registry.h"
#include "support/test.h"
#include "support/world.h"

static struct job gpus(units_t n, double work)
{
    return (struct job){.pool = POOL_GPU, .req = n * UNIT, .work = work * 1e6};
}

static struct job never(struct job like)
{
    like.no_preempt = true;
    return like;
}

static struct job elastic(units_t min, units_t max, double work)
{
    return (struct job){.pool = POOL_GPU,
                        .kind = JOB_MALLEABLE,
                        .min = min * UNIT,
                        .max = max * UNIT,
                        .req = max * UNIT,
                        .work = work * 1e6};
}

/* Gives the task other sizes, as a user's resize does. */
static void resize(struct world *w, double at, uint32_t task, units_t min, units_t max)
{
    struct job *j = ARENA_NEW(&w->arena, struct job);
    *j = *world_task(w, task)->job;
    j->min = min * UNIT;
    j->max = j->req = max * UNIT;
    j->kind = JOB_MALLEABLE;
    world_take(w, at, (struct event){.kind = EVENT_JOB, .task = task, .job = j});
}

static void tick(struct world *w, double at)
{
    world_take(w, at, (struct event){.kind = EVENT_TICK});
}

/* Rivals that come first by any rule: shorter, urgent, of a high priority. */
static void submit_rivals(struct world *w, double at)
{
    for (int i = 0; i < 4; i++) {
        struct job rival = gpus(2, 1 + i);
        rival.priority = INT32_MAX;
        rival.deadline = (usec_t)(at * USEC_PER_SEC) + 10 * USEC_PER_SEC;
        rival.weight = 100;
        world_submit(w, at, rival);
    }
}

static void check_goes_on(const char *policy, bool drains)
{
    struct world w;
    struct world_options o = {.slow_stops = true, .explain = drains};
    world_init(&w, "2x4", policy, &o);
    uint32_t a = world_submit(&w, 0, never(gpus(3, 1e5)));
    uint32_t b = world_submit(&w, 0, never(elastic(2, 4, 1e5)));
    tick(&w, 0);
    assert_true(task_running(world_task(&w, a)) && task_running(world_task(&w, b)));
    for (int i = 0; drains && i < 2; i++)
        world_set_node(&w, 1, (uint32_t)i, NODE_DRAINING);
    submit_rivals(&w, 1);
    for (double at = 1; at < 100; at += 20)
        tick(&w, at);
    const struct task *x = world_task(&w, a), *y = world_task(&w, b);
    if (!task_running(x) || x->n != 3 * UNIT || x->moves || !task_running(y) || y->n < 2 * UNIT ||
        y->moves)
        fail_msg("%s: a has %lld and b %lld units", policy, (long long)x->n, (long long)y->n);
    world_done(&w);
}

static void test_every_policy(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        char policy[64];
        if (policies[i]->axis == AXIS_SHARE)
            continue;
        snprintf(policy, sizeof policy, "%s=%s", axis_name(policies[i]->axis), policies[i]->name);
        check_goes_on(policy, false);
        check_goes_on(policy, true);
    }
}

/* Before it runs, and after it has failed, it waits like any other. */
static void test_waits_like_others(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", NULL);
    uint32_t a = world_submit(&w, 0, never(gpus(2, 400)));
    uint32_t b = world_submit(&w, 0, gpus(2, 100));
    world_decide(&w, 0, "t=0 start b 2 on n1:2\n");
    assert_int_equal(w.e.snapshot.npinned, 0);
    world_end(&w, 50, b);
    world_decide(&w, 50, "t=50 start a 2 on n1:2\n");
    assert_true(world_task(&w, a)->pinned);
    assert_int_equal(w.e.snapshot.npinned, 1);
    world_submit(&w, 60, gpus(2, 10));
    world_decide(&w, 60, "");
    world_take(&w, 70, (struct event){.kind = EVENT_FAILED, .task = a});
    assert_int_equal(w.e.snapshot.npinned, 0);
    world_decide(&w, 70, "t=70 start c 2 on n1:2\n");
    world_done(&w);
}

/* It is pinned from when its job says so, and only as long. */
static void test_follows_the_job(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", NULL);
    uint32_t a = world_submit(&w, 0, gpus(2, 400));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    const struct job *plain = world_task(&w, a)->job;
    struct job pinned = never(*plain);
    world_take(&w, 1, (struct event){.kind = EVENT_JOB, .task = a, .job = &pinned});
    world_submit(&w, 2, gpus(2, 10));
    world_decide(&w, 2, "");
    world_take(&w, 3, (struct event){.kind = EVENT_JOB, .task = a, .job = plain});
    world_decide(&w, 3, "t=3 preempt a 2\nt=3 start b 2 on n1:2\n");
    world_done(&w);
}

/* Its units are set aside before others take theirs, also others that run. */
static void test_neighbour_grows(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x8", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, elastic(2, 2, 1e5));
    world_submit(&w, 0, never(gpus(4, 1e5)));
    world_decide(&w, 0, "t=0 start a 2 on n1:2\nt=0 start b 4 on n1:4\n");
    resize(&w, 1, a, 6, 6);
    world_decide(&w, 1, "t=1 preempt a 2\n");
    world_done(&w);
}

/* One whose smallest size is raised cannot be stopped until there is room for it: it
 * stays as it is, and grows when it can. */
static void test_stays_below_its_minimum(void **state)
{
    (void)state;
    static const char *const allocators[] = {"elastic-fifo", "srtf",  "equal", "ffdl",
                                             "deadline",     "afs-l", "fifo"};
    for (size_t i = 0; i < COUNT_OF(allocators); i++) {
        struct world w;
        world_init(&w, "1x8", allocators[i], NULL);
        struct job first = never(elastic(2, 2, 1e5)), second = never(gpus(4, 1e5));
        first.whole = second.whole = i % 2;
        uint32_t a = world_submit(&w, 0, first), b = world_submit(&w, 0, second);
        tick(&w, 0);
        resize(&w, 1, a, 6, 8);
        tick(&w, 1);
        assert_int_equal(world_task(&w, a)->n, 2 * UNIT);
        assert_int_equal(world_task(&w, b)->n, 4 * UNIT);
        world_end(&w, 2, b);
        tick(&w, 2);
        assert_in_range(world_task(&w, a)->n, 6 * UNIT, 8 * UNIT);
        assert_int_equal(world_task(&w, a)->starts, 1);
        world_done(&w);
    }
}

/* Nor does it take the part of a CPU that is left, which would be too little too. */
static void test_takes_no_part_of_a_cpu(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x1c", "elastic-fifo", NULL);
    struct job part = {.pool = POOL_CPU, .req = 500, .work = 1e9, .no_preempt = true};
    uint32_t a = world_submit(&w, 0, part);
    part.req = 250;
    world_submit(&w, 0, part);
    tick(&w, 0);
    resize(&w, 1, a, 1, 1);
    world_decide(&w, 1, "");
    assert_int_equal(world_task(&w, a)->n, 500);
    world_done(&w);
}

/* It comes back pinned when it is restored. */
static void test_restored(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2", "srtf", NULL);
    struct slot slot = {0, 2 * UNIT};
    struct task was = {.phase = TASK_RUNNING,
                       .pool = POOL_GPU,
                       .n = 2 * UNIT,
                       .at = {&slot, 1},
                       .work = 1e9,
                       .starts = 1,
                       .cpu_weight = 1};
    const struct job *job = world_job(&w, never(gpus(2, 1000)));
    world_take(&w, 0, (struct event){.kind = EVENT_RESTORE, .job = job, .was = &was});
    assert_int_equal(w.e.snapshot.npinned, 1);
    world_submit(&w, 1, gpus(2, 10));
    world_decide(&w, 1, "");
    world_done(&w);
}

/* ---- plans that break it -------------------------------------------------- */

/* Takes the units of all grants away, as a placer that finds no room does. */
static void place_nobody(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)s, (void)p;
    for (uint32_t i = 0; i < plan->n; i++)
        plan->grants[i].n = 0;
}

static void place_on_n2(const struct snapshot *s, const struct params *p, struct plan *plan)
{
    (void)s, (void)p;
    for (uint32_t i = 0; i < plan->n; i++) {
        struct grant *g = &plan->grants[i];
        g->place = (struct placement){ARENA_ARRAY(plan->arena, 1, struct slot), 1};
        g->place.at[0] = (struct slot){1, g->n};
        g->moved = true;
    }
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        struct policy placer;
        const char *words;
    } cases[] = {
        {{.axis = AXIS_PLACE, .decide = place_nobody}, "job a must not be preempted"},
        {{.axis = AXIS_PLACE, .decide = place_on_n2}, "job a must not be moved"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct world w;
        struct err err;
        world_init(&w, "2x2", "fifo", NULL);
        uint32_t a = world_submit(&w, 0, never(gpus(2, 100)));
        tick(&w, 0);
        w.e.config.combo.policy[AXIS_PLACE] = &cases[i].placer;
        w.e.dirty = true;
        assert_error(engine_step(&w.e, &(struct event){.kind = EVENT_TICK}, 1, &err), err,
                     ERR_INTERNAL, cases[i].words);
        assert_int_equal(world_task(&w, a)->at.at[0].node, 0);
        world_done(&w);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_every_policy),
    TEST(test_waits_like_others),
    TEST(test_follows_the_job),
    TEST(test_neighbour_grows),
    TEST(test_restored),
    TEST(test_stays_below_its_minimum),
    TEST(test_takes_no_part_of_a_cpu),
    TEST(test_refused),
};

int main(void)
{
    return RUN(tests);
}
