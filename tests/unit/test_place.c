/* Tests of policy/place: which units a task gets when it starts, grows, shrinks and
 * thaws, and that what it cannot use is free again. */
#include "policy/place.h"

#include "support/test.h"
#include "support/world.h"

/* A world whose tasks run where a test put them, and a plan of the test's. */
struct trial {
    struct world w;
    struct arena arena;
    struct plan plan;
    struct room room;
};

static void trial_init(struct trial *t, const char *nodes, const struct world_options *o)
{
    *t = (struct trial){0};
    world_init(&t->w, nodes, "srtf", o);
}

static void trial_done(struct trial *t)
{
    arena_done(&t->arena);
    world_done(&t->w);
}

static void begin(struct trial *t)
{
    arena_reset(&t->arena);
    plan_init(&t->plan, engine_snapshot(&t->w.e, t->w.now), &t->arena, true);
}

static uint32_t first_fit(struct room *r, const struct task *t, unsigned pool, units_t n, void *ctx)
{
    (void)ctx;
    return room_first(r, t->job, pool, n, 0);
}

static void place(struct trial *t)
{
    room_init(&t->room, engine_snapshot(&t->w.e, t->w.now), &t->plan);
    place_grants(&t->room, &t->plan, first_fit, NULL);
}

/* Checks where a grant goes: "n1:2 n2:1", "" when it is nowhere, "stays". */
static void expect(const struct trial *t, uint32_t task, const char *want)
{
    const struct grant *g = plan_grant(&t->plan, task);
    char text[96] = "";
    if (!g || g->n == 0)
        snprintf(text, sizeof text, "nowhere");
    else if (!g->moved)
        snprintf(text, sizeof text, "stays");
    for (uint32_t i = 0; g && g->n && g->moved && i < g->place.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%sn%u:%g", i ? " " : "",
                 g->place.at[i].node + 1, (double)g->place.at[i].units / UNIT);
    assert_string_equal(text, want);
}

static struct job gpus(units_t n)
{
    return (struct job){.pool = POOL_GPU, .req = n * UNIT, .work = 1e9};
}

static struct job elastic(units_t min, units_t max)
{
    return (struct job){
        .pool = POOL_GPU, .kind = JOB_MALLEABLE, .min = min * UNIT, .max = max * UNIT, .work = 1e9};
}

/* Makes the tasks run as the engine places them with srtf and first-fit. */
static void run(struct trial *t)
{
    world_take(&t->w, 0, (struct event){.kind = EVENT_TICK});
}

static void test_start(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2,2x4", NULL);
    uint32_t whole = world_submit(&t.w, 0, gpus(3)), split = world_submit(&t.w, 0, gpus(6));
    begin(&t);
    plan_give(&t.plan, whole, POOL_GPU, 3 * UNIT);
    plan_give(&t.plan, split, POOL_GPU, 6 * UNIT);
    place(&t);
    expect(&t, whole, "n2:3");
    expect(&t, split, "n3:4 n1:2"); /* the emptiest first: two nodes, not three */
    trial_done(&t);
}

static void test_not_on(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4", NULL);
    uint32_t a = world_submit(&t.w, 0, gpus(2)), b = world_submit(&t.w, 0, gpus(2));
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 2 * UNIT);
    plan_give(&t.plan, b, POOL_GPU, 2 * UNIT);
    plan_grant(&t.plan, a)->not_on = 1; /* the first node is kept for another */
    place(&t);
    expect(&t, a, "n2:2");
    expect(&t, b, "n1:2"); /* only for that one */
    trial_done(&t);
}

static void test_on(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4", NULL);
    uint32_t a = world_submit(&t.w, 0, gpus(3)), b = world_submit(&t.w, 0, gpus(3));
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 3 * UNIT);
    plan_give(&t.plan, b, POOL_GPU, 3 * UNIT);
    plan_grant(&t.plan, a)->on = plan_grant(&t.plan, b)->on = 2;
    place(&t);
    expect(&t, a, "n2:3"); /* not the first node, although that is free */
    expect(&t, b, "n1:3"); /* there is no room any more */
    trial_done(&t);
}

static void test_shrink_and_grow(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4", NULL);
    uint32_t a = world_submit(&t.w, 0, elastic(1, 8));
    t.w.e.tasks[a].asked = 5 * UNIT;
    run(&t); /* n1:4 n2:1 */
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 3 * UNIT);
    place(&t);
    expect(&t, a, "n1:3");
    assert_int_equal(room_free(&t.room, POOL_GPU, 0), UNIT);
    assert_int_equal(room_free(&t.room, POOL_GPU, 1), 4 * UNIT);
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 7 * UNIT);
    place(&t);
    expect(&t, a, "n1:4 n2:3");
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 5 * UNIT);
    place(&t);
    expect(&t, a, "stays");
    trial_done(&t);
}

/* a, on n1:1 n2:1, wants 4 units; its curve has 1, 2 and 4, and only one more is
 * there, on n2. It must stay as it is, and that unit be free for b. */
static void test_growth_that_fails_leaves_no_trace(void **state)
{
    (void)state;
    static const double powers[] = {1, 2, NAN, 4};
    struct trial t;
    trial_init(&t, "1x4,1x5", NULL);
    struct speed *speed = ARENA_NEW(&t.w.arena, struct speed);
    *speed = speed_table(&t.w.arena, powers, 4);
    struct job like = elastic(1, 4);
    like.speeds = speed;
    like.nspeeds = 1;
    like.req = 2 * UNIT;
    uint32_t p = world_submit(&t.w, 0, gpus(3)), q = world_submit(&t.w, 0, elastic(1, 4));
    uint32_t a = world_submit(&t.w, 0, like), b = world_submit(&t.w, 0, gpus(1));
    t.w.e.tasks[q].asked = 4 * UNIT;
    t.w.e.tasks[p].work = 0.1; /* first in the order, then q */
    t.w.e.tasks[q].work = 1;
    run(&t);
    assert_int_equal(world_task(&t.w, a)->at.n, 2);
    begin(&t);
    plan_give(&t.plan, p, POOL_GPU, 3 * UNIT);
    plan_give(&t.plan, q, POOL_GPU, 3 * UNIT); /* shrinks by one */
    plan_give(&t.plan, a, POOL_GPU, 4 * UNIT);
    plan_give(&t.plan, b, POOL_GPU, UNIT);
    place(&t);
    expect(&t, q, "n2:3");
    expect(&t, a, "stays");
    assert_int_equal(plan_units(&t.plan, a), 2 * UNIT);
    assert_int_equal(t.plan.why[a].why, WHY_FRAGMENTED);
    expect(&t, b, "n2:1");
    trial_done(&t);
}

static void test_whole_that_does_not_fit(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4", NULL);
    struct job like = elastic(2, 8);
    like.whole = true;
    uint32_t a = world_submit(&t.w, 0, like), b = world_submit(&t.w, 0, like);
    uint32_t c = world_submit(&t.w, 0, like);
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 3 * UNIT);
    plan_give(&t.plan, b, POOL_GPU, 3 * UNIT);
    plan_give(&t.plan, c, POOL_GPU, 2 * UNIT);
    place(&t);
    expect(&t, a, "n1:3");
    expect(&t, b, "n2:3");
    expect(&t, c, "nowhere"); /* 1 + 1 are left, and it needs 2 on one node */
    assert_int_equal(t.plan.why[c].why, WHY_FRAGMENTED);
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, UNIT);
    plan_give(&t.plan, b, POOL_GPU, 4 * UNIT);
    plan_give(&t.plan, c, POOL_GPU, 4 * UNIT);
    place(&t);
    expect(&t, c, "n1:3"); /* cut down to what one node has */
    trial_done(&t);
}

static void test_memory(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4@8g", NULL);
    struct job like = gpus(6);
    like.memory_mb = 5000;
    uint32_t a = world_submit(&t.w, 0, like), b = world_submit(&t.w, 0, like);
    begin(&t);
    plan_give(&t.plan, a, POOL_GPU, 6 * UNIT);
    plan_give(&t.plan, b, POOL_GPU, 6 * UNIT);
    place(&t);
    expect(&t, a, "n1:4 n2:2");
    expect(&t, b, "nowhere"); /* 2 units are free, but no memory beside them */
    assert_int_equal(t.plan.why[b].why, WHY_MEMORY);
    assert_int_equal(room_free(&t.room, POOL_GPU, 1), 2 * UNIT);
    trial_done(&t);
}

/* Freezes a job of 3 units on n1:1 n2:2, and plans it at other sizes. */
static void test_thaw(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4", NULL);
    struct job like = elastic(1, 6);
    like.can_pause = true;
    like.req = 3 * UNIT;
    like.work = 1e6;
    uint32_t x = world_submit(&t.w, 0, gpus(3)), y = world_submit(&t.w, 0, gpus(2));
    t.w.e.tasks[x].work = t.w.e.tasks[y].work = 1;
    uint32_t a = world_submit(&t.w, 0, like);
    run(&t);
    uint32_t z = world_submit(&t.w, 0, gpus(3));
    t.w.e.tasks[z].work = 2;
    world_take(&t.w, 0, (struct event){.kind = EVENT_TICK});
    assert_int_equal(world_task(&t.w, a)->phase, TASK_PAUSED);
    world_end(&t.w, 1, x);
    world_end(&t.w, 1, y);
    world_end(&t.w, 1, z);
    static const struct {
        units_t n;
        const char *at;
    } cases[] = {{3, "n2:2 n1:1"}, {2, "n2:1 n1:1"}, {5, "n2:4 n1:1"}, {6, "n2:4 n1:2"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(&t);
        plan_give(&t.plan, a, POOL_GPU, cases[i].n * UNIT);
        place(&t);
        expect(&t, a, cases[i].at);
    }
    begin(&t); /* one unit is not enough for two nodes */
    plan_give(&t.plan, a, POOL_GPU, UNIT);
    place(&t);
    expect(&t, a, "nowhere");
    assert_int_equal(task_min(world_task(&t.w, a)), 2 * UNIT);
    trial_done(&t);
}

static const struct CMUnitTest tests[] = {
    TEST(test_start),
    TEST(test_not_on),
    TEST(test_on),
    TEST(test_shrink_and_grow),
    TEST(test_growth_that_fails_leaves_no_trace),
    TEST(test_whole_that_does_not_fit),
    TEST(test_memory),
    TEST(test_thaw),
};

int main(void)
{
    return RUN(tests);
}
