/* The local runtime as an ordinary user without control groups: CPUs by affinity,
 * weights by nice values, processes found by /proc. Root becomes nobody first.
 * run-tests: alone */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

/* Opens it; the test wants none. */
static void open_host(struct host *h)
{
    host_open(h);
    if (h->r->cgroups.n)
        SKIP("this user has control groups");
}

static void test_the_notice_says_what_is_not_limited(void **state)
{
    (void)state;
    struct host s = {0};
    open_host(&s);
    assert_non_null(s.node->notice);
    assert_non_null(strstr(s.node->notice, "without control groups"));
    assert_non_null(strstr(s.node->notice, "memory and the number of processes are not limited"));
    assert_int_equal(strstr(s.node->notice, "Delegate=yes") != NULL,
                     s.r->cgroups.version->number == 2);
    assert_true(s.node->memory_free);
    print_message("# %s\n", s.node->notice);
    host_close(&s);
}

/* The affinity of each thread of the process is this one. */
static void assert_threads_on(int64_t pid, const char *cpus)
{
    assert_string_equal(host_status(pid, "Cpus_allowed_list"), cpus);
    assert_string_equal(host_status(pid, "Threads"), "2");
    struct str task = {0};
    for (int64_t tid = pid + 1; tid < pid + 64; tid++) {
        task.n = 0;
        str_addf(&task, "/proc/%lld/task/%lld", (long long)pid, (long long)tid);
        if (access(task.at, F_OK) == 0)
            assert_string_equal(host_status(tid, "Cpus_allowed_list"), cpus);
    }
    str_done(&task);
}

static void test_affinity_follows_a_resize(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    open_host(&s);
    if (s.node->cpus < 2000)
        SKIP("one CPU only");
    struct host_attempt a = host_attempt(1, 1000);
    host_start(&s, &a, "busy2");
    int64_t pid = host_pid(&s, &a);
    assert_threads_on(pid, ops->cpuset(s.r, a.id));
    a.size.cpus = a.size.cpu_limit = 2000;
    assert_ok(host_resize(&s, &a, &err), err);
    assert_threads_on(pid, ops->cpuset(s.r, a.id));
    a.size.cpus = a.size.cpu_limit = 1000;
    assert_ok(host_resize(&s, &a, &err), err);
    assert_threads_on(pid, ops->cpuset(s.r, a.id));
    assert_null(strchr(ops->cpuset(s.r, a.id), '-'));
    host_clean(&s, &a);
    host_close(&s);
}

static void test_lighter_jobs_are_nicer(void **state)
{
    (void)state;
    struct host s = {0};
    open_host(&s);
    struct host_attempt heavy = host_attempt(1, 500), light = host_attempt(2, 500);
    light.size.cpu_weight = 0.25;
    host_start(&s, &heavy, "sleep");
    host_start(&s, &light, "sleep");
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)host_pid(&s, &heavy)), 0);
    assert_int_equal(getpriority(PRIO_PROCESS, (id_t)host_pid(&s, &light)), 6);
    host_clean(&s, &heavy);
    host_clean(&s, &light);
    host_close(&s);
}

static void test_freeze_stops_and_thaw_goes_on(void **state)
{
    (void)state;
    struct host s = {0};
    struct err err;
    open_host(&s);
    struct host_attempt a = host_attempt(1, 1000);
    host_start(&s, &a, "busy");
    int64_t pid = host_pid(&s, &a);
    assert_ok(host_freeze(&s, &a, true, &err), err);
    host_until(host_status(pid, "State")[0] == 'T');
    assert_ok(host_freeze(&s, &a, false, &err), err);
    host_until(host_status(pid, "State")[0] == 'R');
    host_clean(&s, &a);
    host_close(&s);
}

/* With its conductor alive everything below it is found; without, who carries the
 * attempt in its environment. */
static void test_detached_processes_are_killed(void **state)
{
    (void)state;
    struct host s = {0};
    open_host(&s);
    struct host_attempt a = host_attempt(1, 1000), b = host_attempt(2, 1000);
    host_start(&s, &a, "hide");
    host_until(host_count(s.dir) == 2);
    host_clean(&s, &a);
    host_until(host_count(s.dir) == 0);
    host_start(&s, &b, "detach");
    host_until(host_count(s.dir) == 2);
    kill((pid_t)host_conductor_pid(&s, &b), SIGKILL);
    host_clean(&s, &b);
    host_until(host_count(s.dir) == 0);
    host_close(&s);
}

/* What it takes over goes on; what nobody adopts is ended. */
static void test_a_new_server_takes_over(void **state)
{
    (void)state;
    struct host s = {0};
    open_host(&s);
    struct host_attempt a = host_attempt(3, 1000), b = host_attempt(4, 500);
    host_start(&s, &a, "busy2");
    host_start(&s, &b, "sleep");
    char cpuset[64];
    snprintf(cpuset, sizeof cpuset, "%s", ops->cpuset(s.r, a.id));
    host_restart(&s);
    ops->adopt(s.r, b.id, s.node->name, &b.size);
    ops->adopt(s.r, a.id, s.node->name, &a.size);
    assert_string_equal(ops->cpuset(s.r, a.id), cpuset);
    ops->sweep(s.r);
    host_rest(&s);
    assert_threads_on(host_pid(&s, &a), cpuset);
    assert_int_equal(host_count(s.dir), 2);
    host_clean(&s, &a);
    host_restart(&s);
    ops->sweep(s.r);
    host_rest(&s);
    assert_int_equal(host_count(s.dir), 0);
    host_close(&s);
}

static const struct CMUnitTest tests[] = {
    HOST_TEST(test_the_notice_says_what_is_not_limited),
    HOST_TEST(test_affinity_follows_a_resize),
    HOST_TEST(test_lighter_jobs_are_nicer),
    HOST_TEST(test_freeze_stops_and_thaw_goes_on),
    HOST_TEST(test_detached_processes_are_killed),
    HOST_TEST(test_a_new_server_takes_over),
};

int main(int argc, char **argv)
{
    enum { NOBODY = 65534 };
    conduct_if_asked(argc, argv);
    /* Nobody cannot take back a nice value that he was started with. */
    if (geteuid() == 0 && (setpriority(PRIO_PROCESS, 0, 0) || setgid(NOBODY) || setuid(NOBODY)))
        return 1;
    return RUN(tests);
}
