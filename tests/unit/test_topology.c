/* Sets of CPUs as text, and the distances that hwloc's view gives. */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <sched.h>

#include "runtime/local/topology.h"
#include "support/test.h"

static void assert_round_trip(const char *text, const char *expected, uint32_t n)
{
    struct cpuset set;
    struct err err;
    struct str out = {0};
    assert_ok(cpuset_parse(text, &set, &err), err);
    assert_int_equal(cpuset_count(&set), n);
    cpuset_format(&set, &out);
    assert_string_equal(out.at, expected);
    str_done(&out);
}

static void test_cpusets_are_written_as_the_kernel_does(void **state)
{
    (void)state;
    assert_round_trip("", "", 0);
    assert_round_trip("\n", "", 0);
    assert_round_trip("0\n", "0", 1);
    assert_round_trip("3,0-1", "0-1,3", 3);
    assert_round_trip("0,1,2", "0-2", 3);
    assert_round_trip("63-64", "63-64", 2);
    assert_round_trip("4095", "4095", 1);
    assert_round_trip("0-4095", "0-4095", 4096);
}

static void test_bad_cpusets_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"x",    "-1",  "1-",   "2-1",    "1,",
                                      "1,,2", "1;2", "4096", "0-4096", "99999999999999999999"};
    struct err err;
    struct cpuset set;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(cpuset_parse(bad[i], &set, &err), err, ERR_INVALID, bad[i]);
}

static void test_distances(void **state)
{
    (void)state;
    struct topology t;
    struct err err;
    assert_ok(topology_load(&t, NULL, "package:2 numanode:1 l3:2 core:2 pu:2", &err), err);
    assert_int_equal(t.n, 16);
    assert_int_equal(topology_distance(&t, 0, 0), 0);
    assert_int_equal(topology_distance(&t, 0, 1), 0);
    assert_int_equal(topology_distance(&t, 0, 2), 1);
    assert_int_equal(topology_distance(&t, 0, 4), 2);
    assert_int_equal(topology_distance(&t, 0, 8), 4);
    topology_done(&t);
}

static void test_unusable_cpus_are_left_out(void **state)
{
    (void)state;
    struct topology t;
    struct cpuset set;
    struct err err;
    assert_ok(cpuset_parse("1,6-7", &set, &err), err);
    assert_ok(topology_load(&t, &set, "package:2 core:2 pu:2", &err), err);
    assert_int_equal(t.n, 3);
    assert_int_equal(t.cpu[0].os, 1);
    assert_int_equal(t.cpu[1].group[TOPOLOGY_CORE], t.cpu[2].group[TOPOLOGY_CORE]);
    for (uint32_t i = 0; i < t.n; i++)
        for (unsigned level = 0; level < TOPOLOGY_LEVELS; level++)
            assert_true(t.cpu[i].group[level] < t.n);
    topology_done(&t);
    assert_ok(cpuset_parse("99", &set, &err), err);
    assert_error(topology_load(&t, &set, "package:2 core:2 pu:2", &err), err, ERR_INTERNAL, "CPUs");
    assert_error(topology_load(&t, NULL, "nonsense", &err), err, ERR_INVALID, "nonsense");
}

static void test_this_machine(void **state)
{
    (void)state;
    struct topology t;
    struct cpuset set = {0};
    struct err err;
    assert_true(sched_getaffinity(0, sizeof set, (cpu_set_t *)&set) == 0);
    assert_ok(topology_load(&t, &set, NULL, &err), err);
    assert_int_equal(t.n, cpuset_count(&set));
    for (uint32_t i = 0; i < t.n; i++)
        assert_true(cpuset_has(&set, t.cpu[i].os));
    topology_done(&t);
}

static const struct CMUnitTest tests[] = {
    TEST(test_cpusets_are_written_as_the_kernel_does),
    TEST(test_bad_cpusets_are_refused),
    TEST(test_distances),
    TEST(test_unusable_cpus_are_left_out),
    TEST(test_this_machine),
};

int main(void)
{
    return RUN(tests);
}
