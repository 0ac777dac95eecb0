/* The local runtime with real control groups (v1 or v2, whatever is mounted) and real
 * processes: starts, freezes, takes over, and leaves nothing behind.
 * run-tests: alone */
#define _GNU_SOURCE /* NOLINT(bugprone-reserved-identifier): so the C library names it */
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/local/textfile.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

static void test_a_start_says_what_the_conductor_needs(void **state)
{
    (void)state;
    struct host s = {0};
    struct host_launch l;
    struct err err;
    host_open_with_groups(&s);
    assert_true(s.node->cpus >= UNIT && s.node->memory_mb > 0);
    struct host_attempt a = host_attempt(7, 500);
    a.size.memory_mb = 64;
    struct runtime_op op = host_op(&s, OP_START, &a);
    host_launch(&s, &a, "sleep", &l);
    op.start = &l.start;
    assert_ok(host_do(&s, &op, &err), err);
    assert_true(op.pid > 0);
    assert_int_equal(l.spec.cgroups.n, s.r->cgroups.n);
    const char *path = l.spec.cgroups.at[0].path;
    assert_int_equal(access(path, F_OK), 0);
    assert_string_equal(l.spec.cpuset, ops->cpuset(s.r, a.id));
    assert_null(l.spec.gpus);
    host_until(host_pid(&s, &a) > 0);
    host_clean(&s, &a);
    assert_int_equal(access(path, F_OK), -1);
    assert_null(ops->cpuset(s.r, a.id));
    arena_done(&l.arena);
    host_close(&s);
}

/* Nothing is started, and nothing is held for it. */
static void assert_refused(struct host *s, const struct host_attempt *a, enum err_code code,
                           const char *words)
{
    struct err err;
    int64_t pid;
    assert_error(host_start_conductor(s, a, "sleep", &pid, &err), err, code, words);
    assert_int_equal(pid, 0);
    assert_int_equal(s->r->held.n, 0);
    assert_int_equal(host_settle(s, a, false), FATE_PENDING);
}

static void test_bad_sizes_are_refused(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    struct host_attempt a = host_attempt(1, 0);
    assert_refused(&s, &a, ERR_INVALID, "CPUs");
    a = host_attempt(1, 1000);
    a.size.cpu_weight = NAN;
    assert_refused(&s, &a, ERR_INVALID, "weight");
    a = host_attempt(1, 1000);
    a.size.gpus = 1000000;
    assert_refused(&s, &a, ERR_LIMIT, "GPUs");
    host_close(&s);
}

/* What it would have held is given back, and it can be tried again. */
static void test_a_start_that_fails_leaves_nothing(void **state)
{
    (void)state;
    struct host s = {0};
    struct str jobs = {0};
    host_open_with_groups(&s);
    struct host_attempt a = host_attempt(1, 1000);
    str_addf(&jobs, "%s/jobs", s.dir);
    FILE *in_the_way = fopen(jobs.at, "w");
    assert_non_null(in_the_way);
    fclose(in_the_way);
    struct err err;
    int64_t pid;
    assert_error(host_start_conductor(&s, &a, "sleep", &pid, &err), err, ERR_IO, jobs.at);
    assert_int_equal(unlink(jobs.at), 0);
    char *conductor = s.r->conductor;
    s.r->conductor = "/nowhere/at/all";
    assert_refused(&s, &a, ERR_IO, "/nowhere/at/all");
    s.r->conductor = conductor;
    assert_false(cgroup_exists(&s.r->cgroups, "1.1"));
    host_start(&s, &a, "sleep");
    host_clean(&s, &a);
    str_done(&jobs);
    host_close(&s);
}

static void test_fork_bomb_is_killed(void **state)
{
    (void)state;
    struct host s = {0};
    host_open_with_groups(&s);
    host_need(&s, CGROUP_PIDS);
    struct host_attempt a = host_attempt(1, 500);
    a.size.pids = 200;
    host_start(&s, &a, "bomb");
    host_until(host_group_number(&s, &a, "pids.current", NULL) > 150);
    host_clean(&s, &a);
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
    struct host_attempt a = host_attempt(1, 500);
    a.size.pids = 200;
    host_start(&s, &a, "bomb");
    host_until(host_group_number(&s, &a, "pids.current", NULL) > 150);
    host_clean(&s, &a);
    host_close(&s);
}

static void test_detached_processes_are_killed(void **state)
{
    (void)state;
    static const char *const commands[] = {"detach", "hide"};
    struct host s = {0};
    host_open_with_groups(&s);
    for (size_t i = 0; i < COUNT_OF(commands); i++) {
        struct host_attempt a = host_attempt(1 + (int64_t)i, 1000);
        host_start(&s, &a, commands[i]);
        host_until(host_count(s.dir) == 2);
        kill((pid_t)host_conductor_pid(&s, &a), SIGKILL);
        host_clean(&s, &a);
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
    struct host_attempt a = host_attempt(1, 1000);
    host_start(&s, &a, "busy");
    int64_t pid = host_pid(&s, &a);
    assert_ok(host_freeze(&s, &a, true, &err), err);
    host_sleep(100);
    double idle;
    assert_true(host_cpus_used(pid, 300, &idle) < 0.05);
    assert_ok(host_freeze(&s, &a, true, &err), err);
    assert_ok(host_freeze(&s, &a, false, &err), err);
    host_assert_uses(pid, 0.3, 1.08);
    assert_ok(host_freeze(&s, &a, true, &err), err);
    host_clean(&s, &a);
    host_close(&s);
}

/* The server dies with jobs running; another takes over. A third, of other state, sees
 * nothing of them. */
static void test_a_new_server_takes_over(void **state)
{
    (void)state;
    struct host s = {0}, other = {0};
    struct err err;
    host_open_with_groups(&s);
    host_open_with_groups(&other);
    struct host_attempt a = host_attempt(3, 500), b = host_attempt(4, 500);
    b.id.n = 2;
    host_start(&s, &a, "busy");
    host_start(&s, &b, "sleep");
    char cpuset[64];
    snprintf(cpuset, sizeof cpuset, "%s", ops->cpuset(s.r, a.id));
    host_restart(&s);
    ops->sweep(other.r);
    host_clean(&other, &a);
    ops->adopt(s.r, a.id, s.node->name, &a.size);
    ops->adopt(s.r, b.id, s.node->name, &b.size);
    ops->sweep(s.r);
    host_rest(&s);
    assert_string_equal(ops->cpuset(s.r, a.id), cpuset);
    host_assert_uses(host_pid(&s, &a), 0.42, 0.58);
    a.size.cpus = a.size.cpu_limit = 200;
    assert_ok(host_resize(&s, &a, &err), err);
    if (s.r->cgroups.controllers & CGROUP_CPU)
        host_assert_uses(host_pid(&s, &a), 0.14, 0.26);
    assert_int_equal(host_count(s.dir), 2);
    host_clean(&s, &a);
    host_clean(&s, &b);
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
    struct host_attempt a = host_attempt(1, 1000);
    host_start(&s, &a, "sleep");
    pid_t pid = (pid_t)host_conductor_pid(&s, &a);
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
    host_clean(&s, &a);
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
    enum { N = 41 };
    double start[N];
    struct host s = {0};
    struct err err;
    int64_t pid;
    host_open_with_groups(&s);
    double from = now();
    for (int i = 0; i < N; i++) {
        struct host_attempt a = host_attempt(1 + i, 10);
        double began = now();
        assert_ok(host_start_conductor(&s, &a, "true", &pid, &err), err);
        start[i] = now() - began;
    }
    for (int i = 0; i < N; i++) {
        struct host_attempt a = host_attempt(1 + i, 10);
        host_wait(&s, &a);
        host_clean(&s, &a);
    }
    qsort(start, N, sizeof *start, compare_doubles);
    print_message("# start %.2f ms (median); with run and clean %.0f a second\n",
                  start[N / 2] * 1e3, N / (now() - from));
    host_close(&s);
}

static const struct CMUnitTest tests[] = {
    HOST_TEST(test_a_start_says_what_the_conductor_needs),
    HOST_TEST(test_bad_sizes_are_refused),
    HOST_TEST(test_a_start_that_fails_leaves_nothing),
    HOST_TEST(test_fork_bomb_is_killed),
    HOST_TEST(test_fork_bomb_is_killed_without_cgroup_kill),
    HOST_TEST(test_detached_processes_are_killed),
    HOST_TEST(test_freeze_stops_and_thaw_goes_on),
    HOST_TEST(test_a_new_server_takes_over),
    HOST_TEST(test_conductors_are_detached),
    HOST_TEST(test_a_start_is_quick),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return RUN(tests);
}
