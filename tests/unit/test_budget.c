/* Tests of policy/budget: what is counted by pool and by node, which pool a task
 * goes to, and that nothing is taken when a request fails. */
#include "policy/budget.h"

#include "support/test.h"
#include "support/world.h"

/* A world in which the test is the allocator. */
struct trial {
    struct world w;
    struct arena arena;
    struct plan plan;
    struct budget b;
};

static void trial_init(struct trial *t, const char *nodes)
{
    *t = (struct trial){0};
    world_init(&t->w, nodes, "fifo", NULL);
}

static void trial_begin(struct trial *t)
{
    const struct snapshot *s = engine_snapshot(&t->w.e, t->w.now);
    arena_reset(&t->arena);
    plan_init(&t->plan, s, &t->arena, false);
    budget_init(&t->b, s, &t->arena);
}

static void trial_done(struct trial *t)
{
    arena_done(&t->arena);
    world_done(&t->w);
}

static uint32_t add(struct trial *t, struct job like)
{
    like.work = like.work > 0 ? like.work : 1e9;
    return world_submit(&t->w, 0, like);
}

static struct job gpus(units_t n)
{
    return (struct job){.pool = POOL_GPU, .req = n * UNIT};
}

static void test_by_pool(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4+8c");
    uint32_t a = add(&t, gpus(5)), b = add(&t, gpus(4));
    uint32_t c = add(&t, (struct job){.pool = POOL_CPU, .req = 16 * UNIT});
    trial_begin(&t);
    unsigned pool = 99;
    assert_true(budget_take(&t.b, a, 5 * UNIT, &pool));
    assert_int_equal(pool, POOL_GPU);
    assert_false(budget_take(&t.b, b, 4 * UNIT, &pool));
    assert_int_equal(t.b.free[POOL_GPU], 3 * UNIT);
    assert_true(budget_take(&t.b, c, 16 * UNIT, &pool)); /* another pool */
    assert_int_equal(pool, POOL_CPU);
    assert_true(budget_grow(&t.b, a, POOL_GPU, 5 * UNIT, 8 * UNIT));
    assert_false(budget_grow(&t.b, a, POOL_GPU, 8 * UNIT, 9 * UNIT));
    assert_int_equal(budget_most(&t.b), 0);
    budget_return(&t.b, a, POOL_GPU, 8 * UNIT);
    assert_int_equal(t.b.free[POOL_GPU], 8 * UNIT);
    assert_int_equal(budget_most(&t.b), 8 * UNIT);
    trial_done(&t);
}

/* 6 units are free in all, but no node has more than 3. */
static void test_whole(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4c");
    struct job like = {.pool = POOL_CPU, .req = UNIT, .whole = true};
    uint32_t a = add(&t, like), b = add(&t, like);
    like.req = 4 * UNIT;
    uint32_t large = add(&t, like);
    like.req = 3 * UNIT;
    uint32_t medium = add(&t, like);
    trial_begin(&t);
    unsigned pool;
    assert_true(budget_take(&t.b, a, UNIT, &pool));
    assert_int_equal(t.b.node_of[a], 0);
    assert_true(budget_take(&t.b, large, 4 * UNIT, &pool));
    assert_int_equal(t.b.node_of[large], 1);
    assert_true(budget_take(&t.b, b, UNIT, &pool)); /* the tightest */
    assert_int_equal(t.b.node_of[b], 0);
    assert_false(budget_take(&t.b, medium, 3 * UNIT, &pool));
    assert_int_equal(t.b.free[POOL_CPU], 2 * UNIT);
    assert_true(budget_grow(&t.b, b, POOL_CPU, UNIT, 3 * UNIT));
    assert_false(budget_grow(&t.b, a, POOL_CPU, UNIT, 2 * UNIT));
    budget_return(&t.b, large, POOL_CPU, 4 * UNIT);
    assert_true(budget_take(&t.b, medium, 3 * UNIT, &pool));
    assert_int_equal(t.b.node_of[medium], 1);
    trial_done(&t);
}

/* A running task stays in its place; the others are counted around it. */
static void test_running_keeps_its_node(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4c");
    struct job like = {.pool = POOL_CPU, .req = 2 * UNIT, .whole = true};
    uint32_t a = add(&t, like), b = add(&t, like), c = add(&t, like);
    world_take(&t.w, 0, (struct event){.kind = EVENT_TICK}); /* a, b on n1, c on n2 */
    trial_begin(&t);
    budget_keep_running(&t.b, &t.plan);
    assert_int_equal(t.b.node_of[a], 0);
    assert_int_equal(t.b.node_of[b], 0);
    assert_int_equal(t.b.node_of[c], 1);
    assert_int_equal(plan_units(&t.plan, c), 2 * UNIT);
    assert_int_equal(t.b.free[POOL_CPU], 2 * UNIT);
    trial_done(&t);
}

static struct speed *curve(struct trial *t, double one, double two)
{
    struct speed *s = ARENA_ARRAY(&t->w.arena, 3, struct speed);
    s[0] = s[1] = speed_table(&t->w.arena, (double[]){one, one}, 2);
    s[2] = speed_table(&t->w.arena, (double[]){two, two}, 2);
    return s;
}

static void test_any_gpu(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2:slow,1x2:fast");
    struct job like = {.pool = POOL_ANY_GPU, .req = UNIT, .nspeeds = 3};
    like.speeds = curve(&t, 1, 2);
    uint32_t tasks[5];
    for (int i = 0; i < 5; i++)
        tasks[i] = add(&t, like);
    trial_begin(&t);
    static const unsigned expected[] = {POOL_GPU + 1, POOL_GPU + 1, POOL_GPU, POOL_GPU};
    unsigned pool;
    for (int i = 0; i < 4; i++) {
        assert_int_equal(budget_pool(t.b.s, &t.b.s->tasks[tasks[i]]), POOL_GPU + 1);
        assert_true(budget_take(&t.b, tasks[i], UNIT, &pool)); /* the fast ones first */
        assert_int_equal(pool, expected[i]);
    }
    assert_false(budget_take(&t.b, tasks[4], UNIT, &pool));
    trial_begin(&t);
    assert_true(budget_grant_in(&t.b, &t.plan, tasks[0], POOL_GPU, UNIT)); /* told where */
    assert_int_equal(plan_grant(&t.plan, tasks[0])->pool, POOL_GPU);
    trial_done(&t);
}

/* The fast type has no CPUs beside its GPUs: it is no choice for such a job. */
static void test_any_gpu_where_it_fits(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "1x2:slow+8c,1x2:fast");
    struct job like = {.pool = POOL_ANY_GPU, .req = UNIT, .nspeeds = 3, .cpus = UNIT};
    like.speeds = curve(&t, 1, 2);
    uint32_t a = add(&t, like);
    trial_begin(&t);
    unsigned pool;
    assert_int_equal(budget_pool(t.b.s, &t.b.s->tasks[a]), POOL_GPU);
    assert_true(budget_take(&t.b, a, UNIT, &pool));
    assert_int_equal(pool, POOL_GPU);
    trial_done(&t);
}

/* Three nodes could hold it, two cannot: it must not keep others from running. */
static void test_what_the_nodes_that_are_up_cannot_hold(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "3x4+4c");
    struct job like = {.pool = POOL_GPU, .req = 6 * UNIT, .cpus = 2 * UNIT};
    uint32_t a = add(&t, like);
    trial_begin(&t);
    unsigned pool;
    assert_true(budget_take(&t.b, a, 6 * UNIT, &pool));
    world_set_node(&t.w, 1, 0, NODE_DOWN);
    trial_begin(&t);
    assert_false(budget_take(&t.b, a, 6 * UNIT, &pool)); /* 8 GPUs, CPUs for 4 */
    assert_int_equal(t.b.free[POOL_GPU], 8 * UNIT);
    trial_done(&t);
}

/* What runs on a draining node is outside the pool and costs nothing. */
static void test_draining(void **state)
{
    (void)state;
    struct trial t;
    trial_init(&t, "2x4");
    uint32_t a = add(&t, gpus(6));
    world_take(&t.w, 0, (struct event){.kind = EVENT_TICK}); /* n1:4 n2:2 */
    world_set_node(&t.w, 1, 0, NODE_DRAINING);
    trial_begin(&t);
    assert_int_equal(t.b.free[POOL_GPU], 4 * UNIT);
    unsigned pool;
    assert_true(budget_take(&t.b, a, 6 * UNIT, &pool));
    assert_int_equal(t.b.free[POOL_GPU], 2 * UNIT);
    assert_true(budget_grow(&t.b, a, POOL_GPU, 6 * UNIT, 8 * UNIT));
    assert_int_equal(t.b.free[POOL_GPU], 0);
    budget_return(&t.b, a, POOL_GPU, 8 * UNIT);
    assert_int_equal(t.b.free[POOL_GPU], 4 * UNIT);
    trial_done(&t);
}

static const struct CMUnitTest tests[] = {
    TEST(test_by_pool),
    TEST(test_whole),
    TEST(test_running_keeps_its_node),
    TEST(test_any_gpu),
    TEST(test_any_gpu_where_it_fits),
    TEST(test_what_the_nodes_that_are_up_cannot_hold),
    TEST(test_draining),
};

int main(void)
{
    return RUN(tests);
}
