/* Tests of policy/room: the searches against a plain walk over all nodes, what a
 * plan frees, and what is left of a task that shrinks. */
#include "policy/room.h"

#include "base/rng.h"
#include "support/test.h"
#include "support/world.h"

enum { NODES = 37 };

/* A cluster of two GPU types with odd sizes; some nodes are not up. */
static void build(struct rng *r, struct cluster *c, struct node *nodes)
{
    *c = (struct cluster){.nodes = nodes, .n = NODES, .gpu_types = {"a", "b"}};
    for (uint32_t i = 0; i < NODES; i++)
        nodes[i] = (struct node){.name = "n",
                                 .state = rng_below(r, 8) ? NODE_UP : NODE_DRAINING,
                                 .cpus = (units_t)rng_below(r, 9) * UNIT,
                                 .gpus = (units_t)rng_below(r, 9) * UNIT,
                                 .gpu_pool = (uint8_t)(POOL_GPU + rng_below(r, 2)),
                                 .memory_mb = rng_below(r, 2) ? (int64_t)rng_below(r, 16) : 0};
}

static struct job draw_job(struct rng *r)
{
    return (struct job){.pool = (uint8_t)rng_below(r, 3),
                        .memory_mb = (int64_t)rng_below(r, 2) * (int64_t)rng_below(r, 8),
                        .cpus = (units_t)rng_below(r, 2) * (units_t)rng_below(r, 3) * 500};
}

static uint32_t walk_first(const struct room *r, const struct job *j, units_t n, uint32_t from)
{
    for (uint32_t i = from; i < NODES; i++)
        if (room_for(r, j, j->pool, i, false) >= n)
            return i;
    return TASK_NONE;
}

static uint32_t walk_tightest(const struct room *r, const struct job *j, units_t n)
{
    uint32_t best = TASK_NONE;
    for (uint32_t i = 0; i < NODES; i++)
        if (room_for(r, j, j->pool, i, false) >= n &&
            (best == TASK_NONE || room_free(r, j->pool, i) < room_free(r, j->pool, best)))
            best = i;
    return best;
}

static uint32_t walk_widest(const struct room *r, const struct job *j)
{
    uint32_t best = TASK_NONE;
    for (uint32_t i = 0; i < NODES; i++)
        if (room_for(r, j, j->pool, i, false) >
            (best == TASK_NONE ? 0 : room_for(r, j, j->pool, best, false)))
            best = i;
    return best;
}

static void test_searches(void **state)
{
    (void)state;
    struct rng rng;
    struct arena a = {0};
    rng_init(&rng, 11);
    for (int round = 0; round < 200; round++) {
        struct cluster c;
        struct node nodes[NODES];
        build(&rng, &c, nodes);
        struct snapshot s = {.cluster = &c, .pools = 3};
        struct room r;
        room_init_kept(&r, &s, &a);
        for (int step = 0; step < 100; step++) {
            struct job j = draw_job(&rng);
            units_t n = (units_t)(1 + rng_below(&rng, 6)) * (j.pool ? UNIT : 250);
            uint32_t from = (uint32_t)rng_below(&rng, NODES + 3);
            uint32_t found = room_first(&r, &j, j.pool, n, from);
            assert_int_equal(found, walk_first(&r, &j, n, from));
            assert_int_equal(room_tightest(&r, &j, j.pool, n), walk_tightest(&r, &j, n));
            assert_int_equal(room_widest(&r, &j, j.pool), walk_widest(&r, &j));
            if (found != TASK_NONE)
                room_take(&r, &j, j.pool, found, n, false);
        }
        arena_reset(&a);
    }
    arena_done(&a);
}

static void test_take_and_give(void **state)
{
    (void)state;
    struct node nodes[] = {
        {.name = "n1", .cpus = 8000, .gpus = 4000, .gpu_pool = POOL_GPU, .memory_mb = 100},
        {.name = "n2", .cpus = 8000, .gpus = 4000, .gpu_pool = POOL_GPU}};
    struct cluster c = {.nodes = nodes, .n = 2, .gpu_types = {"gpu"}};
    struct snapshot s = {.cluster = &c, .pools = 2};
    struct arena a = {0};
    struct room r;
    room_init_kept(&r, &s, &a);
    struct job j = {.pool = POOL_GPU, .cpus = 3000, .memory_mb = 60};
    assert_int_equal(room_for(&r, &j, POOL_GPU, 0, false), 2000); /* by its CPUs */
    room_take(&r, &j, POOL_GPU, 0, 1000, false);
    assert_int_equal(room_free(&r, POOL_CPU, 0), 5000);
    assert_int_equal(room_free(&r, POOL_GPU, 0), 3000);
    assert_int_equal(room_for(&r, &j, POOL_GPU, 0, false), 0);   /* by its memory */
    assert_int_equal(room_for(&r, &j, POOL_GPU, 0, true), 1000); /* it is there already */
    assert_int_equal(room_for(&r, &j, POOL_GPU, 1, false), 2000);
    assert_int_equal(room_free(&r, POOL_GPU + 1, 0), 0); /* no such units here */
    room_give(&r, &j, POOL_GPU, 0, 1000, true);
    assert_int_equal(room_for(&r, &j, POOL_GPU, 0, false), 2000);

    units_t kept = room_block(&r, POOL_GPU, 0);
    assert_int_equal(kept, 4000);
    assert_int_equal(room_first(&r, &j, POOL_GPU, 1000, 0), 1);
    room_unblock(&r, POOL_GPU, 0, kept);
    assert_int_equal(room_first(&r, &j, POOL_GPU, 1000, 0), 0);
    arena_done(&a);
}

/* Leaves n units of the placement, and says where in "node:units ..." form. */
static void expect_shrunk(struct slot *slots, uint32_t n, units_t to, const char *want)
{
    struct arena a = {0};
    struct placement at = {slots, n}, rest = room_shrink(&(struct job){0}, &at, to, &a);
    char text[64] = "";
    for (uint32_t i = 0; i < rest.n; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%u:%lld", i ? " " : "",
                 rest.at[i].node, (long long)rest.at[i].units);
    assert_string_equal(text, want);
    arena_done(&a);
}

static void test_shrink(void **state)
{
    (void)state;
    struct slot slots[] = {{3, 4000}, {1, 1000}, {7, 2000}};
    expect_shrunk(slots, 3, 7000, "3:4000 1:1000 7:2000");
    expect_shrunk(slots, 3, 6000, "3:4000 7:2000"); /* the smallest part first */
    expect_shrunk(slots, 3, 5000, "3:4000 7:1000");
    expect_shrunk(slots, 3, 4000, "3:4000");
    expect_shrunk(slots, 3, 2500, "3:2500");
    expect_shrunk(slots, 3, 0, "");
    struct slot equal[] = {{0, 2000}, {1, 2000}};
    expect_shrunk(equal, 2, 3000, "0:2000 1:1000"); /* of equal ones the last */
}

/* A plan that stops a, shrinks b and keeps c: what is free then. */
static void test_what_a_plan_frees(void **state)
{
    (void)state;
    struct world w;
    struct job like = {.pool = POOL_GPU,
                       .kind = JOB_MALLEABLE,
                       .min = UNIT,
                       .max = 2 * UNIT,
                       .work = 1e9,
                       .memory_mb = 100};
    world_init(&w, "1x8@1g", "elastic-fifo", NULL);
    for (int i = 0; i < 3; i++)
        world_submit(&w, 0, like);
    world_take(&w, 0, (struct event){.kind = EVENT_TICK});
    struct arena a = {0};
    struct plan plan;
    struct room r;
    const struct snapshot *s = engine_snapshot(&w.e, 0);
    plan_init(&plan, s, &a, false);
    plan_give(&plan, 1, POOL_GPU, UNIT);
    plan_give(&plan, 2, POOL_GPU, 2 * UNIT);
    room_init(&r, s, &plan);
    assert_int_equal(room_free(&r, POOL_GPU, 0), (8 - 3) * UNIT);
    assert_int_equal(r.memory[0], 1024 - 200);

    /* Placed: b at its new size, c where it is. */
    struct slot slot = {0, UNIT};
    plan_grant(&plan, 1)->place = (struct placement){&slot, 1};
    plan_grant(&plan, 1)->moved = true;
    room_init_placed(&r, s, &plan);
    assert_int_equal(room_free(&r, POOL_GPU, 0), (8 - 3) * UNIT);
    assert_int_equal(r.memory[0], 1024 - 200);
    arena_done(&a);
    world_done(&w);
}

/* Frozen memory is there for who needs it, unless its job is to go on; what a
 * stopping job holds is not. */
static void test_paused_and_stopping(void **state)
{
    (void)state;
    struct world w;
    struct job like = {.pool = POOL_GPU, .req = 2 * UNIT, .work = 1e9, .memory_mb = 600};
    world_init(&w, "2x2@1g", "srtf", &(struct world_options){.slow_stops = true});
    like.can_pause = true;
    uint32_t a = world_submit(&w, 0, like);
    like.can_pause = false;
    world_submit(&w, 0, like);
    world_take(&w, 0, (struct event){.kind = EVENT_TICK});
    struct job shorter = {.pool = POOL_GPU, .req = 4 * UNIT, .work = 1e6};
    world_submit(&w, 1, shorter);
    world_decide(&w, 1, "t=1 pause a 2\nt=1 preempt b 2\n");
    struct arena arena = {0};
    struct plan plan;
    struct room r;
    const struct snapshot *s = engine_snapshot(&w.e, w.now);
    plan_init(&plan, s, &arena, false);
    room_init(&r, s, &plan);
    assert_int_equal(room_free(&r, POOL_GPU, 0), 2 * UNIT);
    assert_int_equal(r.memory[0], 1024);
    assert_int_equal(room_free(&r, POOL_GPU, 1), 0);
    assert_int_equal(r.memory[1], 1024 - 600);
    plan_give(&plan, a, POOL_GPU, 2 * UNIT);
    room_init(&r, s, &plan);
    assert_int_equal(r.memory[0], 1024 - 600);
    arena_done(&arena);
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_searches),          TEST(test_take_and_give),       TEST(test_shrink),
    TEST(test_what_a_plan_frees), TEST(test_paused_and_stopping),
};

int main(void)
{
    return RUN(tests);
}
