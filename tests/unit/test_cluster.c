/* Tests of model/cluster: sizes of pools, and jobs that no cluster can hold. */
#include "model/cluster.h"

#include "support/test.h"

static const struct speed linear = {.concave = true};

enum { T4 = POOL_GPU, A100 = POOL_GPU + 1 };

/* Two nodes of 4 T4, one of 8 A100, one of CPUs only. */
static struct cluster mixed(struct node nodes[4])
{
    nodes[0] = nodes[1] = (struct node){
        .name = "t", .cpus = 32 * UNIT, .gpus = 4 * UNIT, .gpu_pool = T4, .memory_mb = 64000};
    nodes[2] = (struct node){.name = "a", .cpus = 64 * UNIT, .gpus = 8 * UNIT, .gpu_pool = A100};
    nodes[3] = (struct node){.name = "c", .cpus = 96 * UNIT, .memory_mb = 256000};
    return (struct cluster){.nodes = nodes, .n = 4, .gpu_types = {"t4", "a100"}};
}

static void test_pools(void **state)
{
    (void)state;
    struct node nodes[4];
    struct cluster c = mixed(nodes), bare = {0};
    assert_int_equal(cluster_pools(&c), 3);
    assert_int_equal(cluster_pools(&bare), 1);
    for (int i = 0; i < POOLS_MAX - 1; i++)
        bare.gpu_types[i] = "x";
    assert_int_equal(cluster_pools(&bare), POOLS_MAX);
}

static void test_size(void **state)
{
    (void)state;
    struct node nodes[4];
    struct cluster c = mixed(nodes), empty = {0};
    assert_int_equal(cluster_size(&c, POOL_CPU, false), 224 * UNIT);
    assert_int_equal(cluster_size(&c, T4, false), 8 * UNIT);
    assert_int_equal(cluster_size(&c, A100, false), 8 * UNIT);
    assert_int_equal(cluster_size(&c, POOL_GPU + 2, false), 0);
    nodes[0].state = NODE_DOWN;
    nodes[2].state = NODE_DRAINING;
    assert_int_equal(cluster_size(&c, T4, true), 4 * UNIT);
    assert_int_equal(cluster_size(&c, A100, true), 0);
    assert_int_equal(cluster_size(&c, A100, false), 8 * UNIT);
    assert_int_equal(cluster_size(&empty, POOL_CPU, false), 0);
}

static void test_node(void **state)
{
    (void)state;
    struct node n = {
        .cpus = 8 * UNIT, .gpus = 2 * UNIT, .gpu_pool = A100, .cpu_held = 1500, .gpu_held = UNIT};
    assert_int_equal(node_size(&n, POOL_CPU), 8 * UNIT);
    assert_int_equal(node_size(&n, A100), 2 * UNIT);
    assert_int_equal(node_size(&n, T4), 0);
    assert_int_equal(node_held(&n, POOL_CPU), 1500);
    assert_int_equal(node_held(&n, A100), UNIT);
    assert_int_equal(node_held(&n, T4), 0);
}

static void holds(struct job j)
{
    struct node nodes[4];
    struct cluster c = mixed(nodes);
    struct err err;
    assert_ok(cluster_can_hold(&c, &j, &err), err);
}

static void refuses(struct job j, const char *words)
{
    struct node nodes[4];
    struct cluster c = mixed(nodes);
    struct err err;
    assert_error(cluster_can_hold(&c, &j, &err), err, ERR_LIMIT, words);
}

static void test_can_hold(void **state)
{
    (void)state;
    holds((struct job){.pool = T4, .min = 8 * UNIT});
    refuses((struct job){.pool = T4, .min = 9 * UNIT},
            "needs 9 GPUs, but the cluster has at most 8");
    holds((struct job){.pool = T4, .min = 4 * UNIT, .whole = true});
    refuses((struct job){.pool = T4, .min = 5 * UNIT, .whole = true},
            "needs 5 GPUs on one node, but the cluster has at most 4");
    holds((struct job){
        .pool = POOL_ANY_GPU, .min = 8 * UNIT, .whole = true, .speeds = &linear, .nspeeds = 1});
    refuses((struct job){.pool = POOL_ANY_GPU, .min = 9 * UNIT, .speeds = &linear, .nspeeds = 1},
            "at most 8"); /* pools do not mix */
    refuses((struct job){.pool = POOL_GPU + 2, .min = UNIT}, "at most 0");
    holds((struct job){.pool = POOL_CPU, .min = 224 * UNIT});
    holds((struct job){.pool = POOL_CPU, .min = 96 * UNIT, .whole = true});
    refuses((struct job){.pool = POOL_CPU, .min = 96500, .whole = true}, "needs 96.5 CPUs on one");
}

/* It counts what the cluster has, not what is up: nodes come back. */
static void test_nodes_that_are_down_count(void **state)
{
    (void)state;
    struct node nodes[4];
    struct cluster c = mixed(nodes);
    struct job j = {.pool = T4, .min = 8 * UNIT};
    struct err err;
    nodes[0].state = NODE_DOWN;
    assert_ok(cluster_can_hold(&c, &j, &err), err);
}

static void test_memory(void **state)
{
    (void)state;
    holds((struct job){.pool = T4, .min = UNIT, .memory_mb = 64000});
    refuses((struct job){.pool = T4, .min = UNIT, .memory_mb = 64001},
            "with 64001 MB of memory, but the cluster has at most 0");
    holds((struct job){.pool = A100, .min = UNIT, .memory_mb = 1000000}); /* not limited there */
    holds((struct job){.pool = POOL_CPU, .min = 160 * UNIT, .memory_mb = 100000});
    refuses((struct job){.pool = POOL_CPU, .min = 161 * UNIT, .memory_mb = 100000}, "at most 160");
}

static void test_cpus_beside_gpus(void **state)
{
    (void)state;
    holds((struct job){.pool = T4, .min = 4 * UNIT, .cpus = 8 * UNIT, .whole = true});
    refuses((struct job){.pool = T4, .min = 4 * UNIT, .cpus = 9 * UNIT, .whole = true},
            "with 9 CPUs each on one node, but the cluster has at most 3");
    refuses((struct job){.pool = T4, .min = UNIT, .cpus = 33 * UNIT}, "at most 0");
}

static void test_no_nodes(void **state)
{
    (void)state;
    struct cluster c = {0};
    struct job j = {.pool = POOL_CPU, .min = 1};
    struct err err;
    assert_error(cluster_can_hold(&c, &j, &err), err, ERR_LIMIT, "at most 0");
}

static const struct CMUnitTest tests[] = {
    TEST(test_pools),    TEST(test_size),
    TEST(test_node),     TEST(test_can_hold),
    TEST(test_memory),   TEST(test_nodes_that_are_down_count),
    TEST(test_no_nodes), TEST(test_cpus_beside_gpus),
};

int main(void)
{
    return RUN(tests);
}
