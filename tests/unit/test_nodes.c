/* Owns the tests of sim/nodes: what a cluster specification means, and what is
 * none. */
#include "support/test.h"

#include <unistd.h>

#include "sim/nodes.h"

static struct cluster parse(const char *spec, struct arena *a)
{
    struct cluster c = {0};
    struct err err;
    assert_ok(nodes_parse(spec, a, &c, &err), err);
    return c;
}

static void reads_specs(void **state)
{
    struct arena a = {0};
    (void)state;
    struct cluster c = parse("16x4", &a);
    assert_int_equal(c.n, 16);
    assert_string_equal(c.nodes[0].name, "n1");
    assert_string_equal(c.nodes[15].name, "n16");
    assert_string_equal(c.gpu_types[0], "gpu");
    assert_int_equal(cluster_pools(&c), 2);
    assert_int_equal(cluster_size(&c, POOL_GPU, true), 64 * UNIT);
    assert_int_equal(cluster_size(&c, POOL_CPU, true), 0);
    assert_int_equal(c.nodes[3].memory_mb, 0);

    c = parse("2x4:t4+32c@64g/tpu=2/fpga=1,1x8c/FPGA=3,1x8c", &a);
    assert_string_equal(c.device_names[0], "tpu");
    assert_string_equal(c.device_names[1], "fpga");
    assert_null(c.device_names[2]);
    assert_int_equal(c.nodes[1].devices.of[0], 2);
    assert_int_equal(c.nodes[1].devices.of[1], 1);
    assert_int_equal(c.nodes[1].memory_mb, 64 * 1024);
    assert_int_equal(c.nodes[2].devices.of[1], 3);
    assert_false(devices_any(&c.nodes[3].devices));
    c = parse("4x8c@64g", &a);
    assert_int_equal(cluster_pools(&c), 1);
    assert_int_equal(cluster_size(&c, POOL_CPU, true), 32 * UNIT);
    assert_int_equal(c.nodes[0].memory_mb, 64 * 1024);

    c = parse("2x4+32c", &a);
    assert_int_equal(c.nodes[1].gpus, 4 * UNIT);
    assert_int_equal(c.nodes[1].cpus, 32 * UNIT);

    c = parse("6x4:t4,2x8:a100+64c@512g,1x4:T4", &a);
    assert_int_equal(c.n, 9);
    assert_int_equal(cluster_pools(&c), 3);
    assert_string_equal(c.gpu_types[1], "a100");
    assert_null(c.gpu_types[2]);
    assert_int_equal(c.nodes[8].gpu_pool, POOL_GPU);
    assert_int_equal(cluster_size(&c, POOL_GPU, true), 28 * UNIT);
    assert_int_equal(c.nodes[7].memory_mb, 512 * 1024);

    c = parse("100000x1024", &a);
    assert_int_equal(c.n, 100000);
    arena_done(&a);
}

static void refuses_specs(void **state)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"", "no nodes"},
        {"0x4", "expected a whole number of nodes from 1 to 100000 at '0x4'"},
        {"4x0", "a whole number of GPUs or cores from 1"},
        {"4x0c", "GPUs or cores from 1 to 4096 at '0c'"},
        {"100001x1", "nodes from 1 to 100000 at"},
        {"60000x1,60000x1", "more than 100000 nodes"},
        {"1x1025", "GPUs of a node from 1 to 1024 at '1025'"},
        {"1x4097c", "from 1 to 4096 at '4097c'"},
        {"1x0.5c", "a whole number of GPUs or cores from 1 to 4096 at '0.5c'"},
        {"99999999999999999999x4", "from 1 to 100000 at"},
        {"16", "expected an x"},
        {"16x", "expected a number of GPUs or cores"},
        {"16xfour", "expected a number of GPUs or cores at 'four'"},
        {"16x4,", "expected a number of nodes at ''"},
        {"16x4:", "expected a GPU type"},
        {"16x4:t 4", "' 4': expected 16x4"},
        {"1x4:aaaaaaaaaabbbbbbbbbbccccccccccdd", "expected a GPU type of 1 to 31"},
        {"16x4+32", "expected a c"},
        {"16x4/", "'': expected devices like tpu=2"},
        {"16x4/tpu", "'tpu': expected devices like tpu=2"},
        {"16x4/tpu=-1", "tpu: -1 is not between 0 and 10000"},
        {"16x4/t.u=1", "expected devices like tpu=2"},
        {"16x4/tpu=1/", "'': expected devices like tpu=2"},
        {"16x4/a=1/b=1,2x4/c=1/d=1/e=1", "'e': at most 4 kinds of devices"},
        {"16x4@", "expected memory"},
        {"16x4@0g", "no memory"},
        {"16x4@64q", "expected memory like"},
        {"4x8c:t4", "':t4': expected 16x4"},
        {"4x8c+8c", "'+8c': expected 16x4"},
        {"4x8z", "'z': expected 16x4"},
        {"-1x4", "expected a whole number of nodes from 1 to 100000 at '-1x4'"},
        {"1x-4", "expected a whole number of GPUs or cores from 1 to 4096 at '-4'"},
        {"-1", "expected a whole number of nodes from 1 to 100000 at '-1'"},
        {"/no/such/file", "No such file"},
        {"/tmp", "a directory"},
        {"1x1:a,1x1:b,1x1:c,1x1:d,1x1:e,1x1:f,1x1:g,1x1:h,1x1:i,1x1:j,1x1:k,1x1:l,1x1:m,1x1:n,"
         "1x1:o,1x1:p,1x1:q",
         "'q': too many GPU types; at most 16"},
    };
    struct arena a = {0};
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct cluster c = {.n = 77};
        assert_error(nodes_parse(cases[i].spec, &a, &c, &err), err, ERR_INVALID, cases[i].words);
        assert_int_equal(c.n, 77);
    }
    arena_done(&a);
}

static int from_text(const char *text, struct arena *a, struct cluster *out, struct err *err)
{
    return nodes_parse_file("f", text, strlen(text), a, out, err);
}

static void reads_files(void **state)
{
    struct arena a = {0};
    struct cluster c;
    struct err err;
    (void)state;
    assert_ok(from_text("name,gpus,type,cpus,memory\nalpha,4,t4,64,256g\nbeta,8,a100,64.5,\n"
                        "gamma,,,16,1000\n",
                        &a, &c, &err),
              err);
    assert_int_equal(c.n, 3);
    assert_string_equal(c.nodes[2].name, "gamma");
    assert_int_equal(c.nodes[0].memory_mb, 256 * 1024);
    assert_int_equal(c.nodes[1].gpu_pool, POOL_GPU + 1);
    assert_int_equal(c.nodes[1].cpus, 64500);
    assert_int_equal(c.nodes[2].gpus, 0);
    assert_int_equal(c.nodes[2].memory_mb, 1000);
    assert_ok(from_text("name,cpus,devices\na,4,tpu=2/fpga=1\nb,4,\n", &a, &c, &err), err);
    assert_int_equal(c.nodes[0].devices.of[1], 1);
    assert_false(devices_any(&c.nodes[1].devices));
    assert_int_equal(from_text("name,cpus,devices\na,4,tpu\n", &a, &c, &err), -1);
    assert_ok(from_text("num_switch,num_node_p_switch,num_gpu_p_node,num_cpu_p_node,mem_p_node\n"
                        "5,32,8,128,256",
                        &a, &c, &err),
              err);
    assert_int_equal(c.n, 160);
    assert_int_equal(c.nodes[159].gpus, 8 * UNIT);
    assert_int_equal(c.nodes[159].memory_mb, 256 * 1024);
    c = parse("data/tiresias/n4g4.csv", &a);
    assert_int_equal(cluster_size(&c, POOL_GPU, true), 16 * UNIT);
    arena_done(&a);
}

static void refuses_files(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", "f: the file is empty"},
        {"name,gpus\n", "f: it has a header but no nodes"},
        {"gpus\n4\n", "f:1:5: the nodes format needs a column 'name'"},
        {"name,gpu\na,4\n",
         "f:1:6: unknown column 'gpu' for the nodes format; did you mean 'gpus'?"},
        {"name,gpus\na,4\na,4\n", "f:3:1: name 'a': node 1 has this name already"},
        {"name,gpus\n,4\n", "f:2:1: name '': expected a name"},
        {"name,gpus\na,-4\n", "f:2:3: gpus '-4': expected a whole number from 0 to 1024"},
        {"name,gpus\na,0\n", "a node needs GPUs or CPUs"},
        {"name,cpus\na,5000\n", "cpus '5000': expected at most 4096"},
        {"name,cpus\na,0.0001\n", "three decimals"},
        {"name,cpus,type\na,1,t4\n", "expected no type for a node without GPUs"},
        {"name,gpus,type\na,1,t 4\n", "expected a GPU type"},
        {"name,gpus,memory\na,1,lots\n", "memory 'lots': expected memory like"},
        {"name,gpus\na,1,2\n", "f:2:5: 3 fields; the header has 2"},
        {"num_switch,num_node_p_switch,num_gpu_p_node\n1000,1000,8\n", "more than 100000 nodes"},
        {"num_switch,num_node_p_switch,num_gpu_p_node\n0,4,8\n", "num_switch '0'"},
    };
    struct arena a = {0};
    struct cluster c;
    struct err err;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_error(from_text(cases[i].text, &a, &c, &err), err, ERR_INVALID, cases[i].words);
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {TEST(reads_specs), TEST(refuses_specs), TEST(reads_files),
                                          TEST(refuses_files)};

int main(void)
{
    return RUN(tests);
}
