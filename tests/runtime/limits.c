/* The limits of the local runtime with real control groups (v1 or v2, whatever is mounted):
 * they have effect on real processes, and follow a resize.
 * run-tests: alone */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <sched.h>
#include <signal.h>

#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

static void test_quota_halves_a_busy_loop(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    host_need(&s, CGROUP_CPU);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&s, &a, "busy");
    host_assert_uses(host_pid(&s, &a), 0.42, 0.58);
    host_clean(&s, &a);
    host_close(&s);
}

/* Both on one CPU: the server is held to it while it looks at the machine. */
static void test_weights_divide_a_core(void **state)
{
    (void)state;
    struct host s = {0};
    struct cpuset all = {0}, one = {0};
    sched_getaffinity(0, sizeof all, (cpu_set_t *)&all);
    uint32_t cpu = 0;
    while (!cpuset_has(&all, cpu))
        cpu++;
    cpuset_add(&one, cpu);
    sched_setaffinity(0, sizeof one, (const cpu_set_t *)&one);
    host_open_with_groups(&s);
    assert_int_equal(s.node->cpus, 1000);
    host_need(&s, CGROUP_CPU | CGROUP_CPUSET);
    struct host_attempt light = host_attempt(1, 250), heavy = host_attempt(2, 750);
    light.size.cpu_limit = heavy.size.cpu_limit = 1000;
    light.size.cpu_weight = 500;
    heavy.size.cpu_weight = 1500;
    host_start(&s, &light, "busy");
    host_start(&s, &heavy, "busy");
    int64_t l = host_pid(&s, &light), h = host_pid(&s, &heavy);
    double ratio = 0;
    for (unsigned i = 0; i < 6 && !(ratio > 2.4 && ratio < 3.7); i++) {
        double before_l = host_cpu_seconds(l), before_h = host_cpu_seconds(h);
        host_sleep(1500);
        ratio = (host_cpu_seconds(h) - before_h) / (host_cpu_seconds(l) - before_l);
    }
    sched_setaffinity(0, sizeof all, (const cpu_set_t *)&all);
    if (!(ratio > 2.4 && ratio < 3.7))
        fail_msg("weights 1:3 gave 1:%.2f", ratio);
    host_clean(&s, &light);
    host_clean(&s, &heavy);
    host_close(&s);
}

static void test_cpuset_is_respected_and_follows(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    host_open_with_groups(&s);
    host_need(&s, CGROUP_CPUSET);
    if (s.node->cpus < 2000)
        SKIP("one CPU only");
    struct host_attempt a = host_attempt(1, 1000), b = host_attempt(2, 1000);
    host_start(&s, &a, "busy2");
    host_start(&s, &b, "sleep");
    int64_t pid = host_pid(&s, &a);
    char first[64];
    snprintf(first, sizeof first, "%s", ops->cpuset(s.r, a.id));
    assert_string_equal(host_status(pid, "Cpus_allowed_list"), first);
    assert_string_equal(host_status(host_pid(&s, &b), "Cpus_allowed_list"), ops->cpuset(s.r, b.id));
    assert_string_not_equal(first, ops->cpuset(s.r, b.id));
    host_assert_uses(pid, 0.5, 1.08);
    host_clean(&s, &b);
    a.size.cpus = a.size.cpu_limit = 2000;
    for (unsigned twice = 0; twice < 2; twice++) {
        assert_ok(host_resize(&s, &a, &err), err);
        assert_string_equal(host_status(pid, "Cpus_allowed_list"), ops->cpuset(s.r, a.id));
    }
    host_assert_uses(pid, 1.2, 2.08);
    a.size.cpus = a.size.cpu_limit = 300;
    assert_ok(host_resize(&s, &a, &err), err);
    assert_string_equal(ops->cpuset(s.r, a.id), first);
    assert_string_equal(host_status(pid, "Cpus_allowed_list"), first);
    if (s.r->cgroups.controllers & CGROUP_CPU)
        host_assert_uses(pid, 0.24, 0.36);
    a.size.cpu_limit = 1500;
    assert_ok(host_resize(&s, &a, &err), err);
    assert_string_not_equal(ops->cpuset(s.r, a.id), first);
    host_clean(&s, &a);
    host_close(&s);
}

static void test_memory_limit_kills_and_is_counted(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    host_open_with_groups(&s);
    host_need(&s, CGROUP_MEMORY);
    struct host_attempt a = host_attempt(1, 1000);
    a.size.memory_mb = 40;
    host_start(&s, &a, "eat");
    assert_int_equal(host_wait(&s, &a).signal, SIGKILL);
    bool v1 = s.r->cgroups.version->number == 1;
    assert_true(
        host_group_number(&s, &a, v1 ? "memory.oom_control" : "memory.events", "oom_kill ") > 0);
    a.size.memory_mb = 20;
    assert_ok(host_resize(&s, &a, &err), err);
    a.size.memory_mb = 80;
    assert_ok(host_resize(&s, &a, &err), err);
    const char *file = v1 ? "memory.limit_in_bytes" : "memory.max";
    assert_int_equal(host_group_number(&s, &a, file, NULL), 80 << 20);
    a.size.memory_mb = 0;
    assert_ok(host_resize(&s, &a, &err), err);
    assert_int_not_equal(host_group_number(&s, &a, file, NULL), 80 << 20);
    host_clean(&s, &a);
    host_close(&s);
}

static void test_pids_limit_holds(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    host_need(&s, CGROUP_PIDS);
    struct host_attempt a = host_attempt(1, 1000);
    a.size.pids = 20;
    host_start(&s, &a, "forks");
    host_until(host_count(s.dir) == 20);
    assert_int_equal(host_group_number(&s, &a, "pids.current", NULL), 20);
    host_clean(&s, &a);
    host_close(&s);
}

static const struct CMUnitTest tests[] = {
    HOST_TEST(test_quota_halves_a_busy_loop),
    HOST_TEST(test_weights_divide_a_core),
    HOST_TEST(test_cpuset_is_respected_and_follows),
    HOST_TEST(test_memory_limit_kills_and_is_counted),
    HOST_TEST(test_pids_limit_holds),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return RUN(tests);
}
