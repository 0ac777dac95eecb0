/* The local runtime with real control groups (v1 or v2, whatever is mounted) and real
 * processes: starts, freezes, takes over, and leaves nothing behind.
 * run-tests: alone */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "protocol/launch_spec.h"
#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

static void test_prepare_says_what_the_conductor_needs(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    uint32_t n;
    host_open_with_groups(&s);
    const struct runtime_node *node = ops->nodes(s.r, &n);
    assert_int_equal(n, 1);
    assert_true(node->cpus >= UNIT && node->memory_mb > 0);
    struct runtime_attempt a = host_attempt(7, 500);
    a.memory_mb = 64;
    struct arena arena = {0};
    struct launch_spec spec = {0};
    assert_ok(ops->prepare(s.r, &a, &spec, &arena, &err), err);
    assert_int_equal(spec.cgroups.n, s.r->cgroups.n);
    const char *path = spec.cgroups.at[0].path;
    assert_int_equal(access(path, F_OK), 0);
    assert_string_equal(spec.cpuset, ops->cpuset(s.r, &a));
    assert_null(spec.gpus);
    assert_error(ops->prepare(s.r, &a, &spec, &arena, &err), err, ERR_CONFLICT, "prepared before");
    host_clean(s.r, &a);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(ops->cpuset(s.r, &a));
    host_clean(s.r, &a);
    arena_done(&arena);
    host_close(&s);
}

static void test_bad_attempts_are_refused(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    host_open_with_groups(&s);
    struct arena arena = {0};
    struct launch_spec spec = {0};
    struct runtime_attempt a = host_attempt(1, 0);
    assert_error(ops->prepare(s.r, &a, &spec, &arena, &err), err, ERR_INVALID, "CPUs");
    a = host_attempt(1, 1000);
    a.cpu_weight = NAN;
    assert_error(ops->prepare(s.r, &a, &spec, &arena, &err), err, ERR_INVALID, "weight");
    a = host_attempt(1, 1000);
    a.node = "elsewhere";
    assert_error(ops->prepare(s.r, &a, &spec, &arena, &err), err, ERR_NOT_FOUND, "elsewhere");
    a = host_attempt(1, 1000);
    a.gpus = 1000000;
    assert_error(ops->prepare(s.r, &a, &spec, &arena, &err), err, ERR_LIMIT, "GPUs");
    a = host_attempt(1, 1000);
    assert_error(ops->resize(s.r, &a, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    assert_error(ops->freeze(s.r, &a, true, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    int64_t pid;
    assert_error(ops->spawn(s.r, "/nowhere/at/all", &pid, &err), err, ERR_IO, "/nowhere/at/all");
    assert_true(!spec.cgroups.at && !spec.cpuset && !arena.first);
    host_close(&s);
}

static void test_fork_bomb_is_killed(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    host_need(&s, CGROUP_PIDS);
    struct runtime_attempt a = host_attempt(1, 500);
    a.pids = 200;
    host_start(s.r, s.dir, &a, "bomb");
    host_until(host_group_number(&s, &a, "pids.current", NULL) > 150);
    host_clean(s.r, &a);
    host_close(&s);
}

/* Held still by the freezer and killed one by one, as where there is no cgroup.kill. */
static void test_fork_bomb_is_killed_without_cgroup_kill(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    host_need(&s, CGROUP_PIDS);
    s.r->cgroups.can_kill = false;
    struct runtime_attempt a = host_attempt(1, 500);
    a.pids = 200;
    host_start(s.r, s.dir, &a, "bomb");
    host_until(host_group_number(&s, &a, "pids.current", NULL) > 150);
    host_clean(s.r, &a);
    host_close(&s);
}

static void test_detached_processes_are_killed(void **state)
{
    (void)state;
    static const char *const commands[] = {"detach", "hide"};
    struct host s = {0};
    host_open_with_groups(&s);
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        struct runtime_attempt a = host_attempt(1 + (int64_t)i, 1000);
        host_start(s.r, s.dir, &a, commands[i]);
        host_until(host_count(s.dir) == 2);
        kill((pid_t)host_conductor_pid(s.dir, &a), SIGKILL);
        host_clean(s.r, &a);
        assert_int_equal(host_count(s.dir), 0);
    }
    host_close(&s);
}

static void test_freeze_stops_and_thaw_goes_on(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    host_open_with_groups(&s);
    struct runtime_attempt a = host_attempt(1, 1000);
    host_start(s.r, s.dir, &a, "busy");
    int64_t pid = host_pid(s.dir, &a);
    assert_ok(ops->freeze(s.r, &a, true, &err), err);
    host_sleep(100);
    double idle;
    assert_true(host_cpus_used(pid, 300, &idle) < 0.05);
    assert_ok(ops->freeze(s.r, &a, true, &err), err);
    assert_ok(ops->freeze(s.r, &a, false, &err), err);
    host_assert_uses(pid, 0.3, 1.08);
    assert_ok(ops->freeze(s.r, &a, true, &err), err);
    host_clean(s.r, &a);
    host_close(&s);
}

static void count_leftover(void *ctx, int64_t job, uint32_t attempt_number)
{
    int64_t *sum = ctx;
    *sum += job * 100 + attempt_number;
}

/* The server dies with jobs running and one prepared; another takes over. */
static void test_a_new_server_finds_everything(void **state)
{
    (void)state;
    struct host s = {0}, other = {0};
    struct err err;
    host_open_with_groups(&s);
    host_open_with_groups(&other);
    struct runtime_attempt a = host_attempt(3, 500), b = host_attempt(4, 500),
                           c = host_attempt(5, 500);
    b.attempt = 2;
    host_start(s.r, s.dir, &a, "busy");
    host_start(s.r, s.dir, &b, "sleep");
    struct arena arena = {0};
    struct launch_spec spec = {0};
    assert_ok(ops->prepare(s.r, &c, &spec, &arena, &err), err);
    char cpuset[64];
    snprintf(cpuset, sizeof cpuset, "%s", ops->cpuset(s.r, &a));
    ops->close(s.r);
    assert_ok(ops->open(&s.r, s.dir, &s.notice, &err), err);
    int64_t sum = 0;
    ops->leftovers(s.r, count_leftover, &sum);
    assert_int_equal(sum, 301 + 402 + 501);
    sum = 0;
    ops->leftovers(other.r, count_leftover, &sum);
    assert_int_equal(sum, 0);
    host_clean(other.r, &a);
    assert_ok(ops->adopt(s.r, &a, &err), err);
    assert_string_equal(ops->cpuset(s.r, &a), cpuset);
    host_assert_uses(host_pid(s.dir, &a), 0.42, 0.58);
    a.cpus = a.cpu_limit = 200;
    assert_ok(ops->resize(s.r, &a, &err), err);
    if (s.r->cgroups.controllers & CGROUP_CPU)
        host_assert_uses(host_pid(s.dir, &a), 0.14, 0.26);
    host_clean(s.r, &a);
    host_clean(s.r, &b);
    host_clean(s.r, &c);
    arena_done(&arena);
    host_close(&s);
    host_close(&other);
}

/* A conductor is in a session of its own, nobody's child here, and has no descriptor
 * but the standard ones. */
static void test_conductors_are_detached(void **state)
{
    (void)state;
    struct host s = {0};
    char path[64], target[64];
    host_open_with_groups(&s);
    int leak = dup(1); /* without close-on-exec */
    struct runtime_attempt a = host_attempt(1, 1000);
    host_start(s.r, s.dir, &a, "sleep");
    pid_t pid = (pid_t)host_conductor_pid(s.dir, &a);
    assert_int_equal(getsid(pid), pid);
    assert_int_equal(waitpid(pid, NULL, WNOHANG | __WALL), -1);
    assert_string_equal(host_status(pid, "SigBlk"), "0000000000000000");
    for (int fd = 0; fd <= leak; fd++) {
        snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, fd);
        ssize_t n = readlink(path, target, sizeof target - 1);
        target[n > 0 ? n : 0] = 0;
        if (fd < 3)
            assert_string_equal(target, "/dev/null");
    }
    snprintf(path, sizeof path, "/proc/%d/fd/%d", pid, leak);
    assert_true(leak <= 3 || access(path, F_OK) != 0);
    close(leak);
    host_clean(s.r, &a);
    host_close(&s);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void test_a_start_is_quick(void **state)
{
    (void)state;
    enum { N = 101 };
    double prepare[N], spawn[N];
    struct host s = {0};
    struct err err;
    char dir[128];
    host_open_with_groups(&s);
    double from = now();
    for (int i = 0; i < N; i++) {
        struct runtime_attempt a = host_attempt(1 + i, 10);
        struct arena arena = {0};
        struct launch_spec spec = {0};
        int64_t pid;
        double start = now();
        assert_ok(ops->prepare(s.r, &a, &spec, &arena, &err), err);
        prepare[i] = now() - start;
        start = now();
        /* Without spec.json it ends at once. */
        snprintf(dir, sizeof dir, "%s", s.dir);
        assert_ok(ops->spawn(s.r, dir, &pid, &err), err);
        spawn[i] = now() - start;
        arena_done(&arena);
    }
    for (int i = 0; i < N; i++)
        host_clean(s.r, &(struct runtime_attempt){.job = 1 + i, .attempt = 1});
    qsort(prepare, N, sizeof *prepare, compare_doubles);
    qsort(spawn, N, sizeof *spawn, compare_doubles);
    print_message("# prepare %.2f ms, spawn %.2f ms (medians); with clean %.0f a second\n",
                  prepare[N / 2] * 1e3, spawn[N / 2] * 1e3, N / (now() - from));
    host_close(&s);
}

static const struct CMUnitTest tests[] = {
    HOST_TEST(test_prepare_says_what_the_conductor_needs),
    HOST_TEST(test_bad_attempts_are_refused),
    HOST_TEST(test_fork_bomb_is_killed),
    HOST_TEST(test_fork_bomb_is_killed_without_cgroup_kill),
    HOST_TEST(test_detached_processes_are_killed),
    HOST_TEST(test_freeze_stops_and_thaw_goes_on),
    HOST_TEST(test_a_new_server_finds_everything),
    HOST_TEST(test_conductors_are_detached),
    HOST_TEST(test_a_start_is_quick),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return RUN(tests);
}
