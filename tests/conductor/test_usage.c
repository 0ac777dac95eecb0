/* Reading what the kernel counts: the files of both cgroup versions as they were
 * found on real machines, /proc, and lists of CPUs. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/proc.h"
#include "conductor/cpus.h"
#include "conductor/group.h"
#include "conductor/usage.h"
#include "support/test.h"

static void numbers_are_found(void **state)
{
    (void)state;
    static const char text[] = "usage_usec 12\nuser_usec 7\nthrottled_usec 99\n";
    assert_int_equal(usage_find(text, "usage_usec"), 12);
    assert_int_equal(usage_find(text, "throttled_usec"), 99);
    assert_int_equal(usage_find(text, "usec"), -1);
    assert_int_equal(usage_find(text, "usage"), -1);
    assert_int_equal(usage_find("123\n", NULL), 123);
    assert_int_equal(usage_find("max\n", NULL), -1);
    assert_int_equal(usage_find("", NULL), -1);
    assert_int_equal(usage_find("", "a"), -1);
    static const char io[] = "8:0 rbytes=10 wbytes=20 rios=1 wios=2 dbytes=0 dios=0\n"
                             "8:16 rbytes=100 wbytes=200 rios=1 wios=2 dbytes=5 dios=0\n";
    assert_int_equal(usage_find(io, "rbytes="), 110);
    assert_int_equal(usage_find(io, "wbytes="), 220);
    assert_int_equal(usage_find("", "rbytes="), 0);
    assert_int_equal(usage_find("8:0 Read 1\n8:0 Total 3\nTotal 3\n", "Total"), 3);
}

struct file {
    const char *name, *text;
};

static const struct file version_1[] = {
    {"cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_time 5000000\n"},
    {"cpuacct.usage", "7000000\n"},
    {"memory.usage_in_bytes", "1000000\n"},
    {"memory.stat", "inactive_file 100\ntotal_inactive_file 300000\n"},
    {"memory.max_usage_in_bytes", "2000000\n"},
    {"memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"},
    {"memory.limit_in_bytes", "9223372036854771712\n"},
    {"pids.current", "5\n"},
    {"blkio.throttle.io_service_bytes_recursive", "8:0 Read 1\n8:0 Write 2\nTotal 4096\n"},
    {NULL, NULL},
};

static const struct file version_2[] = {
    {"cpu.stat", "usage_usec 7000\nuser_usec 1\nsystem_usec 2\nnr_periods 1\n"
                 "nr_throttled 1\nthrottled_usec 5000\n"},
    {"memory.current", "1000000\n"},
    {"memory.stat", "anon 5\ninactive_file 300000\n"},
    {"memory.peak", "2000000\n"},
    {"memory.events", "low 0\nhigh 0\nmax 9\noom 3\noom_kill 2\n"},
    {"memory.max", "max\n"},
    {"pids.current", "5\n"},
    {"io.stat", "8:0 rbytes=4000 wbytes=96 rios=1 wios=2 dbytes=0 dios=0\n"},
    {NULL, NULL},
};

static void check_files(const struct file *files, bool v2)
{
    char path[] = "/tmp/test_usage.XXXXXX", name[128], command[64];
    assert_non_null(mkdtemp(path));
    for (; files->name; files++) {
        snprintf(name, sizeof name, "%s/%s", path, files->name);
        int fd = open(name, O_WRONLY | O_CREAT, 0600);
        assert_int_equal(write(fd, files->text, strlen(files->text)), strlen(files->text));
        close(fd);
    }
    struct group group = {.path = path,
                          .procs = "cgroup.procs",
                          .fd = open(path, O_RDONLY | O_DIRECTORY),
                          .v2 = v2,
                          .joined = true};
    struct group_set set = {.at = &group, .n = 1};
    struct usage_meter m;
    usage_init(&m, getpid());
    usage_begin(&m, &set, 0);
    const struct usage *u = usage_sample(&m);
    assert_int_equal(u->cpu_us, 7000);
    assert_int_equal(u->throttled_us, 5000);
    assert_int_equal(u->memory_bytes, 700000);
    assert_int_equal(u->memory_peak_bytes, 2000000);
    assert_int_equal(u->pids, 5);
    assert_int_equal(u->block_bytes, 4096);
    assert_int_equal(u->net_bytes, -1);
    assert_int_equal(usage_oom_kills(&m), 2);
    assert_int_equal(usage_memory_limit(&m), -1);
    usage_done(&m);
    /* A group that was not joined is not looked at. */
    group.joined = false;
    usage_init(&m, getpid());
    usage_begin(&m, &set, 0);
    assert_int_equal(usage_oom_kills(&m), 0);
    assert_int_equal(usage_sample(&m)->throttled_us, -1);
    usage_done(&m);
    close(group.fd);
    snprintf(command, sizeof command, "rm -rf %s", path);
    assert_int_equal(system(command), 0);
}

static void version_1_is_read(void **state)
{
    (void)state;
    check_files(version_1, false);
}

static void version_2_is_read(void **state)
{
    (void)state;
    check_files(version_2, true);
}

static void process_lines(void **state)
{
    (void)state;
    struct proc p;
    assert_int_equal(proc_parse("12 (a) b) S 3 12 12 0 -1 4194560 10 20 0 0 7 8 9 10 20 0 1 0 555 "
                                "100000 42 18446744073709551615 1 1",
                                &p),
                     0);
    assert_int_equal(p.pid, 12);
    assert_int_equal(p.parent, 3);
    assert_int_equal(p.state, 'S');
    assert_int_equal(p.ticks, 34);
    assert_int_equal(p.start, 555);
    assert_int_equal(p.pages, 42);
    assert_int_equal(proc_parse("", &p), -1);
    assert_int_equal(proc_parse("12 (a", &p), -1);
    assert_int_equal(proc_parse("12 (a) S 3 12", &p), -1);
    assert_int_equal(proc_read(getpid(), &p), 0);
    assert_int_equal(p.parent, getppid());
}

static void processes_below(void **state)
{
    (void)state;
    int pipes[2];
    pid_t grandchild;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        pid_t own = fork();
        if (own == 0) {
            pause();
            _exit(0);
        }
        if (write(pipes[1], &own, sizeof own) != sizeof own)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(pipes[0], &grandchild, sizeof grandchild), sizeof grandchild);
    struct proc_list below = {0};
    proc_find_below(getpid(), &below);
    assert_int_equal(below.n, 2);
    assert_int_equal(below.at[0].pid, child);
    assert_int_equal(below.at[1].pid, grandchild);
    VEC_DONE(&below);
    kill(grandchild, SIGKILL);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(pipes[0]);
    close(pipes[1]);
}

static void cpu_lists(void **state)
{
    (void)state;
    struct cpus c;
    struct err e;
    assert_ok(cpus_parse("0-2,5,63-64", &c, &e), e);
    assert_int_equal(c.bits[0], 0x8000000000000027UL);
    assert_int_equal(c.bits[1], 1);
    static const char *const wrong[] = {"",   "x",    "1-",  "-1",   "2-1",
                                        "1,", "1,,2", "1 2", "8192", "0-99999999999999999999"};
    for (size_t i = 0; i < COUNT_OF(wrong); i++)
        assert_error(cpus_parse(wrong[i], &c, &e), e, ERR_INVALID, "list of CPUs");
}

static const struct CMUnitTest tests[] = {
    TEST(numbers_are_found), TEST(version_1_is_read), TEST(version_2_is_read),
    TEST(process_lines),     TEST(processes_below),   TEST(cpu_lists),
};

int main(void)
{
    return RUN(tests);
}
