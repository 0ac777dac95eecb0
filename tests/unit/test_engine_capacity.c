/* Tests of nodes that come, grow and shrink while the engine runs. */
#include "support/test.h"
#include "support/world.h"

static const struct job two_cpus = {
    .pool = POOL_CPU, .req = 2 * UNIT, .work = 200e6, .whole = true};

static void set(struct world *w, double at, uint32_t node, struct capacity has)
{
    struct capacity *kept = ARENA_NEW(&w->arena, struct capacity);
    *kept = has;
    world_take(w, at, (struct event){.kind = EVENT_CAPACITY, .node = node, .has = kept});
}

static void refuse(struct world *w, uint32_t node, struct capacity has, enum err_code code,
                   const char *words)
{
    struct event event = {.kind = EVENT_CAPACITY, .node = node, .has = &has};
    struct err err;
    assert_error(engine_step(&w->e, &event, w->now, &err), err, code, words);
}

static void test_a_new_node_takes_what_waits(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c", "fifo", NULL);
    world_submit(&w, 0, two_cpus);
    world_submit(&w, 0, two_cpus);
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    set(&w, 5, 1, (struct capacity){.name = "n2", .cpus = 2 * UNIT});
    world_decide(&w, 5, "t=5 start b 2 on n2:2\n");
    world_done(&w);
}

static void test_from_no_nodes_at_all(void **state)
{
    (void)state;
    static const char *const placers[] = {"fifo", "allocate=fifo,place=round-robin",
                                          "allocate=srtf,place=spread",
                                          "allocate=afs-l,place=best-fit"};
    for (size_t i = 0; i < COUNT_OF(placers); i++) {
        struct cluster none = {0};
        struct engine_config config = {.instant = true};
        struct world w = {0};
        struct err err;
        assert_int_equal(combo_parse(placers[i], &config.combo, &err), 0);
        engine_init(&w.e, &config, &none);
        assert_int_equal(
            engine_step(&w.e, &(struct event){.kind = EVENT_SUBMIT, .job = world_job(&w, two_cpus)},
                        0, &err),
            -1);
        set(&w, 1, 0, (struct capacity){.name = "n1", .cpus = 4 * UNIT});
        world_submit(&w, 2, two_cpus);
        world_decide(&w, 2, "t=2 start b 2 on n1:2\n");
        world_done(&w);
    }
}

static void test_growing_lets_elastic_jobs_grow(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x2c", "elastic-fifo", NULL);
    world_submit(&w, 0,
                 (struct job){.pool = POOL_CPU,
                              .kind = JOB_MALLEABLE,
                              .min = UNIT,
                              .req = UNIT,
                              .max = 8 * UNIT,
                              .work = 800e6,
                              .whole = true});
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    set(&w, 10, 0, (struct capacity){.name = "n1", .cpus = 6 * UNIT});
    world_decide(&w, 10, "t=10 resize a 2->6 on n1:6\nt=10 share a 6 of limit 6 weight 1\n");
    world_done(&w);
}

static void test_what_is_held_stays(void **state)
{
    (void)state;
    struct world w;
    world_init(&w, "1x4c@8g", "fifo", NULL);
    uint32_t a = world_submit(
        &w, 0,
        (struct job){
            .pool = POOL_CPU, .req = 2 * UNIT, .work = 200e6, .memory_mb = 4096, .whole = true});
    world_decide(&w, 0, "t=0 start a 2 on n1:2\n");
    refuse(&w, 0, (struct capacity){.name = "n1", .cpus = UNIT}, ERR_CONFLICT,
           "n1: jobs hold more than that");
    refuse(&w, 0, (struct capacity){.name = "n1", .cpus = 2 * UNIT, .memory_mb = 4095},
           ERR_CONFLICT, "jobs hold more");
    refuse(&w, 2, (struct capacity){.name = "n3", .cpus = UNIT}, ERR_NOT_FOUND, "no node 2");
    set(&w, 1, 0, (struct capacity){.name = "n1", .cpus = 2 * UNIT, .memory_mb = 4096});
    world_end(&w, 2, a);
    set(&w, 3, 0, (struct capacity){.name = "n1", .cpus = UNIT});
    assert_int_equal(w.e.cluster.nodes[0].cpus, UNIT);
    world_done(&w);
}

static void test_types_of_gpus(void **state)
{
    (void)state;
    struct world w;
    char names[POOLS_MAX][8];
    world_init(&w, "1x2:t4", "fifo", NULL);
    uint32_t a = world_submit(&w, 0, (struct job){.pool = POOL_GPU, .req = UNIT, .work = 10e6});
    world_decide(&w, 0, "t=0 start a 1 on n1:1\n");
    refuse(&w, 0, (struct capacity){.name = "n1", .gpus = 2 * UNIT, .gpu_type = "a100"},
           ERR_CONFLICT, "n1: jobs hold GPUs of another type");
    world_end(&w, 1, a);
    set(&w, 1, 0, (struct capacity){.name = "n1", .gpus = 2 * UNIT, .gpu_type = "a100"});
    assert_string_equal(w.e.cluster.gpu_types[1], "a100");
    uint32_t b = world_submit(&w, 2, (struct job){.pool = POOL_GPU + 1, .req = UNIT, .work = 10e6});
    world_decide(&w, 2, "t=2 start b 1 on n1:1\n");
    world_end(&w, 3, b);
    for (uint32_t i = 2; i < POOLS_MAX - 1; i++) {
        snprintf(names[i], sizeof names[i], "g%u", i);
        set(&w, 3 + i, i - 1, (struct capacity){.name = "n", .gpus = UNIT, .gpu_type = names[i]});
    }
    refuse(&w, w.e.cluster.n, (struct capacity){.name = "n9", .gpus = UNIT, .gpu_type = "one more"},
           ERR_LIMIT, "n9: there are 16 types of GPUs already");
    world_done(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(test_a_new_node_takes_what_waits),
    TEST(test_from_no_nodes_at_all),
    TEST(test_growing_lets_elastic_jobs_grow),
    TEST(test_what_is_held_stays),
    TEST(test_types_of_gpus),
};

int main(void)
{
    return RUN(tests);
}
