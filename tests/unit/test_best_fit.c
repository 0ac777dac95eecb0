/* Tests of the placer best-fit on small clusters made by hand: what moves, what
 * stays. Every plan also passes the engine's own check. */
#include "support/test.h"
#include "support/yard.h"

static void test_stays_in_place(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 1), yard_gpus(4, 1)};
    struct yard y;
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 2, 2);
    yard_begin(&y, 0);
    yard_decide(&y);
    assert_true(yard_stays(&y, a));

    /* The tightest node, not the first. */
    uint32_t b = yard_add(&y, 1, 2, (struct job){0}), c = yard_add(&y, 1, 3, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, b, 2);
    yard_give(&y, c, 3);
    yard_decide(&y);
    assert_true(yard_stays(&y, a));
    assert_int_equal(yard_on(&y, b, 2), 2);
    assert_int_equal(yard_on(&y, c, 0), 3);

    /* Larger than any node: two nodes are not too many. */
    uint32_t d = yard_add(&y, 1, 8, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, d, 8);
    yard_decide(&y);
    assert_true(yard_stays(&y, a));
    assert_int_equal(yard_on(&y, d, 0), 4);
    assert_int_equal(yard_on(&y, d, 1), 4);
    assert_int_equal(y.plan.nmemos, 0);
    yard_done(&y);
}

/* Two full nodes of 4: A 2+2 over both, B and C 2 on one each. */
static void full_and_split(struct yard *y, usec_t cost, uint32_t *task)
{
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 1)};
    struct job like = {.cost = {.move = cost}};
    yard_init(y, nodes, COUNT_OF(nodes));
    task[0] = yard_run_split(y, yard_add(y, 1, 4, like), 0, 2, 1, 2);
    task[1] = yard_run(y, yard_add(y, 1, 2, like), 0, 2);
    task[2] = yard_run(y, yard_add(y, 1, 2, like), 1, 2);
}

static void test_consolidates_when_moves_are_free(void **state)
{
    (void)state;
    struct yard y;
    uint32_t task[3];
    units_t units;
    full_and_split(&y, 0, task);
    yard_begin(&y, 0);
    yard_decide(&y);
    assert_int_equal(yard_span(&y, task[0]), 1);
    assert_int_equal(yard_moves(&y, &units), 2);
    assert_int_equal(units, 4);
    assert_int_equal(y.plan.nmemos, 0);

    y.params.v[0].number = 0; /* locality: nobody minds */
    yard_begin(&y, 0);
    yard_decide(&y);
    assert_int_equal(yard_moves(&y, &units), 0);
    yard_done(&y);
}

/* The drawing in docs/policies/best-fit.md: two jobs with three units move. */
static void test_example_of_the_page(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 1), yard_gpus(4, 1)};
    struct yard y;
    units_t units;
    yard_init(&y, nodes, COUNT_OF(nodes));
    yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 0, 2);
    yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 1, 2);
    yard_run(&y, yard_add(&y, 1, 1, (struct job){0}), 1, 1);
    uint32_t d = yard_run(&y, yard_add(&y, 1, 3, (struct job){0}), 2, 3);
    uint32_t e = yard_add(&y, 1, 4, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, e, 4);
    yard_decide(&y);
    assert_int_equal(yard_span(&y, e), 1);
    assert_true(yard_stays(&y, d));
    assert_int_equal(yard_moves(&y, &units), 2);
    assert_int_equal(units, 3);
    yard_done(&y);
}

/* A gains 5 % of an hour on 4 units: 720 unit-seconds. A itself and a job of two
 * units stop for the move: 6 units. */
static void test_cost_decides(void **state)
{
    (void)state;
    for (usec_t cost = 119; cost <= 120; cost++) {
        struct yard y;
        uint32_t task[3];
        units_t units;
        full_and_split(&y, cost * USEC_PER_SEC, task);
        yard_begin(&y, 0);
        yard_decide(&y);
        assert_int_equal(yard_span(&y, task[0]), cost == 119 ? 1 : 2);
        assert_int_equal(yard_moves(&y, &units), cost == 119 ? 2 : 0);
        assert_int_equal(y.plan.nmemos, cost == 119 ? 0 : 1);
        yard_done(&y);
    }
}

/* After a search in vain, running tasks cause none for `every`. */
static void test_search_in_vain_is_remembered(void **state)
{
    (void)state;
    struct yard y;
    uint32_t task[3];
    const usec_t now = 5 * USEC_PER_SEC, every = 600 * USEC_PER_SEC;
    full_and_split(&y, 1000 * USEC_PER_SEC, task);
    yard_begin(&y, now);
    yard_decide(&y);
    assert_int_equal(y.plan.nmemos, 1);
    assert_int_equal(y.plan.memos[0].scope, MEMO_ALL);
    y.e.memo[AXIS_PLACE] = y.plan.memos[0].memo;
    yard_begin(&y, now + every - 1);
    yard_decide(&y);
    assert_int_equal(y.plan.nmemos, 0);
    yard_begin(&y, now + every);
    yard_decide(&y);
    assert_int_equal(y.plan.nmemos, 1);
    yard_done(&y);
}

static void test_whole_job_fits_after_moves(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_cpus(4, 0), yard_cpus(4, 0)};
    for (int cheap = 0; cheap < 2; cheap++) {
        struct yard y;
        struct job like = {.whole = true, .cost = {.move = cheap ? 60 : 5 * YARD_HOUR}};
        like.cost.move *= USEC_PER_SEC;
        yard_init(&y, nodes, COUNT_OF(nodes));
        uint32_t a = yard_run(&y, yard_add(&y, POOL_CPU, 1, like), 0, 1);
        uint32_t b = yard_run(&y, yard_add(&y, POOL_CPU, 1, like), 1, 1);
        uint32_t c = yard_add(&y, POOL_CPU, 4, like);
        yard_begin(&y, 0);
        yard_give(&y, c, 4);
        yard_decide(&y);
        assert_int_equal(plan_units(&y.plan, c), cheap ? 4 * UNIT : 0);
        assert_int_equal(yard_stays(&y, a) + yard_stays(&y, b), cheap ? 1 : 2);
        assert_int_equal(y.plan.why[c].why, cheap ? WHY_NONE : WHY_COST);
        yard_done(&y);
    }
}

/* A running whole job may grow by moving to another node. */
static void test_growth_by_moving(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_cpus(4, 0), yard_cpus(8, 0)};
    struct yard y;
    struct job like = {.whole = true, .kind = JOB_MALLEABLE, .req = 4000, .min = 1000, .max = 8000};
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run(&y, yard_add(&y, POOL_CPU, 4, like), 0, 4);
    yard_begin(&y, 0);
    yard_give(&y, a, 6);
    yard_decide(&y);
    assert_int_equal(yard_on(&y, a, 1), 6);
    yard_done(&y);
}

/* Names are given only among equals: what was packed for 8 GPUs stays on 8. */
static void test_nodes_that_differ(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(8, 1), yard_gpus(8, 1)};
    struct yard y;
    units_t units;
    yard_init(&y, nodes, COUNT_OF(nodes));
    yard_run(&y, yard_add(&y, 1, 4, (struct job){0}), 1, 4);
    yard_run(&y, yard_add(&y, 1, 4, (struct job){0}), 2, 4);
    uint32_t c = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 0, 2);
    uint32_t d = yard_add(&y, 1, 8, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, d, 8);
    yard_decide(&y);
    assert_int_equal(yard_span(&y, d), 1);
    assert_int_equal(yard_on(&y, d, 0), 0);
    assert_true(yard_stays(&y, c));
    assert_int_equal(yard_moves(&y, &units), 1);
    assert_int_equal(units, 4);
    yard_done(&y);
}

/* Whatever is on a draining node stays there, and its parts elsewhere too. */
static void test_draining_node_is_left_alone(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 1), yard_gpus(4, 1),
                                 yard_gpus(4, 1)};
    struct yard y;
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run_split(&y, yard_add(&y, 1, 2, (struct job){0}), 0, 1, 3, 1);
    uint32_t b = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 1, 2);
    uint32_t c = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 2, 2);
    uint32_t d = yard_add(&y, 1, 4, (struct job){0});
    y.e.cluster.nodes[3].state = NODE_DRAINING;
    yard_begin(&y, 0);
    yard_give(&y, d, 4);
    yard_decide(&y);
    assert_true(yard_stays(&y, a)); /* on too many nodes, but pinned */
    assert_int_equal(yard_span(&y, d), 1);
    assert_int_equal(yard_on(&y, d, 0), 0);
    assert_int_equal(yard_stays(&y, b) + yard_stays(&y, c), 1);
    yard_done(&y);
}

/* There is room for the units everywhere; memory says who can be where. */
static void test_memory(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_cpus(8, 100), yard_cpus(8, 100), yard_cpus(8, 50)};
    struct yard y;
    yard_init(&y, nodes, COUNT_OF(nodes));
    struct job half = {.memory_mb = 50, .whole = true}, full = {.memory_mb = 100, .whole = true};
    uint32_t a = yard_run(&y, yard_add(&y, POOL_CPU, 1, half), 0, 1);
    uint32_t b = yard_run(&y, yard_add(&y, POOL_CPU, 1, half), 1, 1);
    uint32_t c = yard_run(&y, yard_add(&y, POOL_CPU, 1, half), 2, 1);
    uint32_t d = yard_add(&y, POOL_CPU, 1, full), e = yard_add(&y, POOL_CPU, 1, full);
    yard_begin(&y, 0);
    yard_give(&y, d, 1);
    yard_decide(&y);
    assert_int_equal(plan_units(&y.plan, d), UNIT);
    assert_int_equal(yard_on(&y, d, 2), 0);
    assert_true(yard_stays(&y, c));
    assert_int_equal(yard_stays(&y, a) + yard_stays(&y, b), 1);

    /* Two of them and three halves do not fit: one waits, nobody loses. */
    yard_begin(&y, 0);
    yard_give(&y, d, 1);
    yard_give(&y, e, 1);
    yard_decide(&y);
    assert_int_equal(plan_units(&y.plan, a) + plan_units(&y.plan, b) + plan_units(&y.plan, c),
                     3 * UNIT);
    assert_int_equal(plan_units(&y.plan, d) + plan_units(&y.plan, e), UNIT);
    yard_done(&y);
}

/* The job needs a node whose memory is free; the emptiest two have too little. Of
 * the tasks on the others only the one that is in its way moves. */
static void test_only_what_is_in_the_way_moves(void **state)
{
    (void)state;
    enum { N = 8 };
    struct node nodes[N];
    struct yard y;
    units_t units;
    for (uint32_t i = 0; i < N; i++)
        nodes[i] = yard_cpus(8, i < 2 ? 10 : 100);
    yard_init(&y, nodes, N);
    for (uint32_t i = 2; i < N; i++)
        yard_run(&y, yard_add(&y, POOL_CPU, 2, (struct job){.memory_mb = 30, .whole = true}), i, 2);
    uint32_t a = yard_add(&y, POOL_CPU, 8, (struct job){.memory_mb = 80, .whole = true});
    yard_begin(&y, 0);
    yard_give(&y, a, 8);
    yard_decide(&y);
    assert_int_equal(plan_units(&y.plan, a), 8 * UNIT);
    assert_int_equal(yard_moves(&y, &units), 1);
    yard_done(&y);
}

/* Two jobs that fit nowhere: the search goes on when the first is helped. */
static void test_every_misfit_is_helped(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_cpus(4, 0), yard_cpus(4, 0), yard_cpus(4, 0),
                                 yard_cpus(4, 0)};
    struct yard y;
    struct job whole = {.whole = true};
    units_t units;
    yard_init(&y, nodes, COUNT_OF(nodes));
    for (uint32_t i = 0; i < COUNT_OF(nodes); i++)
        yard_run(&y, yard_add(&y, POOL_CPU, 1, whole), i, 1);
    uint32_t a = yard_add(&y, POOL_CPU, 4, whole), b = yard_add(&y, POOL_CPU, 4, whole);
    yard_begin(&y, 0);
    yard_give(&y, a, 4);
    yard_give(&y, b, 4);
    yard_decide(&y);
    assert_int_equal(plan_units(&y.plan, a) + plan_units(&y.plan, b), 8 * UNIT);
    assert_int_equal(yard_moves(&y, &units), 2);
    yard_done(&y);
}

/* Type b is full of split jobs that are not worth a move; a is packed again. */
static void test_two_gpu_types(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 2), yard_gpus(4, 1),
                                 yard_gpus(4, 2)};
    struct yard y;
    struct job dear = {.cost = {.move = YARD_HOUR * USEC_PER_SEC}};
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 0, 2);
    uint32_t b = yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), 2, 2);
    uint32_t c = yard_run_split(&y, yard_add(&y, 2, 4, dear), 1, 2, 3, 2);
    uint32_t d = yard_run_split(&y, yard_add(&y, 2, 4, dear), 1, 2, 3, 2);
    uint32_t e = yard_add(&y, 1, 4, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, e, 4);
    yard_decide(&y);
    assert_true(yard_stays(&y, c) && yard_stays(&y, d));
    assert_int_equal(yard_stays(&y, a) + yard_stays(&y, b), 1);
    assert_int_equal(yard_span(&y, e), 1);
    assert_int_equal(yard_on(&y, e, 1) + yard_on(&y, e, 3), 0);
    yard_done(&y);
}

/* A GPU job takes CPUs beside it; the CPU jobs on the nodes stay where they are,
 * and bins are named only among nodes with the same CPUs left. */
static void test_cpus_beside_gpus(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_gpus(4, 1), yard_gpus(4, 1)};
    struct yard y;
    struct job beside = {.cpus = 8 * UNIT};
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run(&y, yard_add(&y, POOL_CPU, 16, (struct job){.whole = true}), 1, 16);
    uint32_t b = yard_run(&y, yard_add(&y, 1, 2, beside), 0, 2);
    uint32_t c = yard_add(&y, 1, 4, beside);
    yard_begin(&y, 0);
    yard_give(&y, c, 4);
    yard_decide(&y);
    assert_true(yard_stays(&y, a));
    assert_int_equal(yard_on(&y, c, 0), 4);
    assert_int_equal(yard_on(&y, b, 1), 2);
    yard_done(&y);
}

/* A paused task has its memory on its node: it goes on there or waits. */
static void test_paused_task_stays(void **state)
{
    (void)state;
    const struct node nodes[] = {yard_cpus(4, 100), yard_cpus(4, 100)};
    struct yard y;
    struct job like = {.memory_mb = 60, .whole = true, .can_pause = true};
    struct job small = {.memory_mb = 30, .whole = true};
    yard_init(&y, nodes, COUNT_OF(nodes));
    uint32_t a = yard_run(&y, yard_add(&y, POOL_CPU, 1, like), 0, 1);
    uint32_t b = yard_run(&y, yard_add(&y, POOL_CPU, 1, small), 1, 1);
    uint32_t c = yard_add(&y, POOL_CPU, 4, (struct job){.memory_mb = 70, .whole = true});
    yard_pause(&y, a);
    yard_begin(&y, 0);
    yard_give(&y, a, 1);
    yard_give(&y, c, 4);
    yard_decide(&y);
    assert_int_equal(yard_on(&y, a, 0), 1);
    assert_int_equal(yard_on(&y, b, 0), 1);
    assert_int_equal(yard_on(&y, c, 1), 4);
    yard_done(&y);
}

/* 300 nodes, all but two of which have no room: only what is in the way moves,
 * though a packing of everything from scratch would be a different one. */
static void test_few_moves_in_a_large_cluster(void **state)
{
    (void)state;
    enum { N = 300 };
    struct node *nodes = xcalloc(N, sizeof *nodes);
    struct yard y;
    units_t units;
    for (uint32_t i = 0; i < N; i++)
        nodes[i] = yard_gpus(8, 1);
    yard_init(&y, nodes, N);
    for (uint32_t i = 0; i < N; i++) { /* 4 + 2 + 1 + 1, or 4 + 2 */
        yard_run(&y, yard_add(&y, 1, 4, (struct job){0}), i, 4);
        yard_run(&y, yard_add(&y, 1, 2, (struct job){0}), i, 2);
        for (int k = 0; k < 2 && i != 100 && i != 200; k++)
            yard_run(&y, yard_add(&y, 1, 1, (struct job){0}), i, 1);
    }
    uint32_t a = yard_add(&y, 1, 4, (struct job){0});
    yard_begin(&y, 0);
    yard_give(&y, a, 4);
    yard_decide(&y);
    assert_int_equal(yard_span(&y, a), 1);
    assert_int_equal(yard_moves(&y, &units), 1);
    assert_int_equal(units, 2);
    yard_done(&y);
    free(nodes);
}

static const struct CMUnitTest tests[] = {
    TEST(test_stays_in_place),
    TEST(test_consolidates_when_moves_are_free),
    TEST(test_example_of_the_page),
    TEST(test_cost_decides),
    TEST(test_search_in_vain_is_remembered),
    TEST(test_whole_job_fits_after_moves),
    TEST(test_growth_by_moving),
    TEST(test_nodes_that_differ),
    TEST(test_draining_node_is_left_alone),
    TEST(test_memory),
    TEST(test_only_what_is_in_the_way_moves),
    TEST(test_every_misfit_is_helped),
    TEST(test_two_gpu_types),
    TEST(test_cpus_beside_gpus),
    TEST(test_paused_task_stays),
    TEST(test_few_moves_in_a_large_cluster),
};

int main(void)
{
    return RUN(tests);
}
