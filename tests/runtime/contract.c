/* What runtime/runtime.h promises, by the local runtime with real processes. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/local/clean.h"
#include "support/conduct.h"
#include "support/host.h"
#include "support/test.h"

static const struct runtime_ops *const ops = &runtime_local;

static void make_file(const struct host *h, const char *name)
{
    struct str path = {0};
    str_addf(&path, "%s/%s", h->dir, name);
    int fd = open(path.at, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    close(fd);
    str_done(&path);
}

/* Starts a conductor that does not claim its attempt before release(); its pid. */
static int64_t start_held_back(struct host *h, const struct host_attempt *a)
{
    struct err err;
    int64_t pid;
    make_file(h, CONDUCT_HOLD);
    assert_ok(host_start_conductor(h, a, "sleep", &pid, &err), err);
    assert_true(pid > 0);
    return pid;
}

static bool has_ended(int64_t pid)
{
    char state = *host_status(pid, "State");
    return state == 'Z' || state == '\0';
}

/* Lets it go on, and waits for its end. */
static void release(struct host *h, int64_t conductor)
{
    make_file(h, CONDUCT_GO);
    host_until(has_ended(conductor));
}

/* A start is fine and starts nothing. */
static void assert_starts_nothing(struct host *h, const struct host_attempt *a)
{
    unsigned before = host_count(h->dir);
    int64_t pid;
    struct err err;
    assert_ok(host_start_conductor(h, a, "sleep", &pid, &err), err);
    assert_int_equal(pid, 0);
    assert_int_equal(host_count(h->dir), before);
}

/* ---- start and give up -------------------------------------------------------- */

static void test_an_attempt_is_started_once(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500), b = host_attempt(2, 500);
    host_start(&h, &a, "sleep");
    assert_starts_nothing(&h, &a);
    host_start(&h, &b, "true");
    host_wait(&h, &b);
    assert_starts_nothing(&h, &b);
    host_restart(&h);
    assert_starts_nothing(&h, &a);
    assert_starts_nothing(&h, &b);
    assert_int_equal(host_settle(&h, &a, true), FATE_RUNNING);
    assert_int_equal(host_settle(&h, &b, true), FATE_ENDED);
    host_clean(&h, &a);
    host_clean(&h, &b);
    host_close(&h);
}

static void test_a_conductor_that_is_late_runs_nothing(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    int64_t conductor = start_held_back(&h, &a);
    assert_int_equal(host_settle(&h, &a, false), FATE_PENDING);
    assert_int_equal(host_settle(&h, &a, true), FATE_NEVER_RAN);
    release(&h, conductor);
    assert_int_equal(host_pid(&h, &a), -1);
    assert_int_equal(host_settle(&h, &a, false), FATE_NEVER_RAN);
    assert_starts_nothing(&h, &a);
    host_restart(&h);
    assert_starts_nothing(&h, &a);
    host_clean(&h, &a);
    assert_int_equal(host_settle(&h, &a, true), FATE_NEVER_RAN);
    host_close(&h);
}

static void test_one_that_has_claimed_is_not_given_up(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    assert_int_equal(host_settle(&h, &a, true), FATE_RUNNING);
    assert_int_equal(host_count(h.dir), 1);
    host_clean(&h, &a);
    host_close(&h);
}

static void test_one_that_was_never_started_is_given_up(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    assert_int_equal(host_settle(&h, &a, false), FATE_PENDING);
    assert_int_equal(host_settle(&h, &a, true), FATE_NEVER_RAN);
    assert_starts_nothing(&h, &a);
    assert_int_equal(host_settle(&h, &a, false), FATE_NEVER_RAN);
    host_clean(&h, &a);
    host_close(&h);
}

/* ---- what became of it -------------------------------------------------------- */

static void test_an_end_comes_with_its_record(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    a.id.n = 3;
    host_start(&h, &a, "false");
    struct exit_record r = host_wait(&h, &a);
    assert_int_equal(r.job, 1);
    assert_int_equal(r.attempt, 3);
    assert_int_equal(r.code, 3);
    host_clean(&h, &a);
    host_close(&h);
}

static void test_one_whose_conductor_was_killed_is_lost(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    kill((pid_t)host_conductor_pid(&h, &a), SIGKILL);
    host_until(host_settle(&h, &a, false) == FATE_LOST);
    assert_int_equal(host_count(h.dir), 1);
    host_clean(&h, &a);
    assert_int_equal(host_count(h.dir), 0);
    host_close(&h);
}

/* As a crash of the machine can leave it. */
static void test_one_whose_claim_is_empty_is_lost(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "true");
    host_wait(&h, &a);
    make_file(&h, "jobs/1/1/claim");
    assert_int_equal(host_settle(&h, &a, true), FATE_ENDED);
    make_file(&h, "jobs/1/1/exit.json");
    assert_int_equal(host_settle(&h, &a, true), FATE_LOST);
    host_clean(&h, &a);
    host_close(&h);
}

/* Of another attempt, and one that no conductor would write. */
static void test_a_record_that_is_not_its_own_does_not_count(void **state)
{
    (void)state;
    struct host h;
    char from[300], to[300];
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500), b = host_attempt(2, 500);
    host_start(&h, &a, "true");
    host_start(&h, &b, "true");
    host_wait(&h, &a);
    host_wait(&h, &b);
    snprintf(from, sizeof from, "%s/jobs/1/1/exit.json", h.dir);
    snprintf(to, sizeof to, "%s/jobs/2/1/exit.json", h.dir);
    assert_int_equal(rename(from, to), 0);
    assert_int_equal(host_settle(&h, &b, true), FATE_LOST);
    assert_int_equal(mkfifo(from, 0600), 0);
    assert_int_equal(host_settle(&h, &a, true), FATE_LOST);
    host_clean(&h, &a);
    host_clean(&h, &b);
    host_close(&h);
}

static void test_only_a_conductor_holds_a_claim(void **state)
{
    (void)state;
    struct host h;
    char path[300];
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    snprintf(path, sizeof path, "%s/jobs/1/1/claim", h.dir);
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    kill((pid_t)host_conductor_pid(&h, &a), SIGKILL);
    assert_int_equal(flock(fd, LOCK_EX), 0); /* as soon as the conductor is gone */
    host_until(host_settle(&h, &a, false) == FATE_LOST);
    close(fd);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(host_settle(&h, &a, true), FATE_LOST);
    host_clean(&h, &a);
    host_close(&h);
}

/* ---- sizes and the end -------------------------------------------------------- */

static void test_an_unknown_attempt_has_no_size(void **state)
{
    (void)state;
    struct host h;
    struct err err;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500);
    assert_error(host_resize(&h, &a, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    assert_error(host_freeze(&h, &a, true, &err), err, ERR_NOT_FOUND, "job 1, attempt 1");
    host_close(&h);
}

static void test_cleaning_twice_is_cleaning_once(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt a = host_attempt(1, 500), unknown = host_attempt(2, 500);
    host_start(&h, &a, "sleep");
    for (unsigned twice = 0; twice < 2; twice++) {
        host_clean(&h, &a);
        assert_int_equal(host_count(h.dir), 0);
        assert_null(ops->cpuset(h.r, a.id));
    }
    host_clean(&h, &unknown);
    host_close(&h);
}

/* ---- time --------------------------------------------------------------------- */

static void test_operations_are_collected_in_order(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt at[] = {host_attempt(1, 300), host_attempt(2, 300)};
    struct runtime_op op[COUNT_OF(at)];
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        struct host_launch l;
        host_launch(&h, &at[i], "sleep", &l);
        op[i] = host_op(&h, OP_START, &at[i]);
        op[i].start = &l.start;
        ops->begin(h.r, &op[i]);
        arena_done(&l.arena); /* it was borrowed during the call */
    }
    for (size_t i = 0; i < COUNT_OF(at); i++) {
        assert_ptr_equal(runtime_collect(&h.side), &op[i]);
        assert_int_equal(op[i].err.code, ERR_OK);
        host_until(host_pid(&h, &at[i]) > 0);
        assert_int_equal(host_conductor_pid(&h, &at[i]), op[i].pid);
    }
    assert_null(runtime_collect(&h.side));
    for (size_t i = 0; i < COUNT_OF(at); i++)
        host_clean(&h, &at[i]);
    host_close(&h);
}

static void kill_nothing(const struct cgroups *c, const char *name)
{
    (void)c, (void)name;
}

/* Processes that SIGKILL does not end, as in a hung file system. */
static void test_what_does_not_die_is_an_error_at_the_deadline(void **state)
{
    (void)state;
    struct host h;
    host_open_with_groups(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    const struct cgroup_version *version = h.r->cgroups.version;
    struct cgroup_version harmless = *version;
    harmless.kill = kill_nothing;
    h.r->cgroups.version = &harmless;
    struct runtime_op op = host_op(&h, OP_CLEAN, &a);
    ops->begin(h.r, &op);
    assert_null(runtime_collect(&h.side));
    for (usec_t now = h.side.now(&h.side); now < op.deadline; now = ops->due(h.r)) {
        assert_null(runtime_collect(&h.side));
        ops->turn(h.r, now);
        assert_true(ops->due(h.r) > now && ops->due(h.r) <= op.deadline);
    }
    assert_int_equal(ops->due(h.r), op.deadline);
    ops->turn(h.r, op.deadline);
    assert_ptr_equal(runtime_collect(&h.side), &op);
    assert_int_equal(op.err.code, ERR_IO);
    assert_non_null(strstr(op.err.text, "job 1, attempt 1: processes of it do not end"));
    assert_int_equal(clean_due(h.r), USEC_NEVER);
    h.r->cgroups.version = version;
    host_clean(&h, &a);
    host_close(&h);
}

static void test_what_dies_slowly_is_clean_later(void **state)
{
    (void)state;
    struct host h;
    host_open_with_groups(&h);
    struct host_attempt a = host_attempt(1, 500);
    host_start(&h, &a, "sleep");
    const struct cgroup_version *version = h.r->cgroups.version;
    struct cgroup_version harmless = *version;
    harmless.kill = kill_nothing;
    h.r->cgroups.version = &harmless;
    struct runtime_op op = host_op(&h, OP_CLEAN, &a);
    ops->begin(h.r, &op);
    ops->turn(h.r, h.side.now(&h.side));
    assert_null(runtime_collect(&h.side));
    h.r->cgroups.version = version;
    host_rest(&h);
    assert_ptr_equal(runtime_collect(&h.side), &op);
    assert_int_equal(op.err.code, ERR_OK);
    assert_int_equal(host_count(h.dir), 0);
    host_close(&h);
}

/* ---- another server ----------------------------------------------------------- */

static void test_what_is_adopted_goes_on_and_the_rest_ends(void **state)
{
    (void)state;
    struct host h;
    host_open(&h);
    struct host_attempt kept = host_attempt(1, 300), left = host_attempt(2, 300);
    struct host_attempt next = host_attempt(1, 300);
    next.id.n = 2;
    host_start(&h, &kept, "sleep");
    host_start(&h, &left, "detach");
    host_start(&h, &next, "sleep");
    host_until(host_count(h.dir) == 4);
    host_restart(&h);
    ops->adopt(h.r, kept.id, h.node->name, &kept.size);
    ops->adopt(h.r, kept.id, h.node->name, &kept.size);
    ops->sweep(h.r);
    host_rest(&h);
    assert_int_equal(host_count(h.dir), 1);
    assert_int_equal(host_settle(&h, &kept, true), FATE_RUNNING);
    host_until(host_settle(&h, &left, true) == FATE_ENDED);
    host_clean(&h, &kept);
    host_close(&h);
}

/* Its conductor was started by a server whose store is gone. */
static void test_what_is_swept_before_it_claims_never_runs(void **state)
{
    (void)state;
    struct host h;
    host_open_with_groups(&h);
    struct host_attempt a = host_attempt(1, 500);
    int64_t conductor = start_held_back(&h, &a);
    host_restart(&h);
    ops->sweep(h.r);
    host_rest(&h);
    release(&h, conductor);
    assert_int_equal(host_pid(&h, &a), -1);
    assert_int_equal(host_settle(&h, &a, false), FATE_NEVER_RAN);
    host_close(&h);
}

static const struct CMUnitTest tests[] = {
    HOST_TEST(test_an_attempt_is_started_once),
    HOST_TEST(test_a_conductor_that_is_late_runs_nothing),
    HOST_TEST(test_one_that_has_claimed_is_not_given_up),
    HOST_TEST(test_one_that_was_never_started_is_given_up),
    HOST_TEST(test_an_end_comes_with_its_record),
    HOST_TEST(test_one_whose_conductor_was_killed_is_lost),
    HOST_TEST(test_one_whose_claim_is_empty_is_lost),
    HOST_TEST(test_a_record_that_is_not_its_own_does_not_count),
    HOST_TEST(test_only_a_conductor_holds_a_claim),
    HOST_TEST(test_an_unknown_attempt_has_no_size),
    HOST_TEST(test_cleaning_twice_is_cleaning_once),
    HOST_TEST(test_operations_are_collected_in_order),
    HOST_TEST(test_what_does_not_die_is_an_error_at_the_deadline),
    HOST_TEST(test_what_dies_slowly_is_clean_later),
    HOST_TEST(test_what_is_adopted_goes_on_and_the_rest_ends),
    HOST_TEST(test_what_is_swept_before_it_claims_never_runs),
};

int main(int argc, char **argv)
{
    conduct_if_asked(argc, argv);
    return RUN(tests);
}
