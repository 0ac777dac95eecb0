/* Logs that are written elsewhere, and fetched by offset: no byte is lost or there twice,
 * whatever happens to server, link and disk. */
#include "server/jobs/log_copy.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "protocol/logread.h"
#include "runtime/fake_log.h"
#include "server/jobs/attempts.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options one_node = {
    .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 2 * USEC_PER_SEC};

static const char one_minute[] = "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 1}";

static void begin(struct stage *w)
{
    stage_begin(w, &one_node, "fifo");
    w->remote = true;
    stage_start(w);
}

/* The bytes of the server's copy, each of which must be the right one. */
static int64_t copied(struct stage *w, int64_t job, uint32_t n)
{
    AUTO_FREE char *path = attempt_dir(w->y, job, n);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct err err;
    int64_t at = 0;
    for (;;) {
        char bytes[4096];
        size_t got;
        int64_t offset = at;
        assert_true(dir >= 0);
        assert_ok(logread(dir, ATTEMPT_LOG_MAX, &offset, bytes, sizeof bytes, &got, &err), err);
        assert_int_equal(offset, at);
        for (size_t i = 0; i < got; i++)
            assert_int_equal(bytes[i],
                             fake_log_byte((struct attempt_id){job, n, 0}, at + (int64_t)i));
        if (!got)
            return at;
        at += (int64_t)got;
    }
}

static void expect_whole(struct stage *w, int64_t job, uint32_t n)
{
    int64_t bytes = fake_log_bytes(w->fake, (struct attempt_id){job, n, 0});
    assert_true(bytes > 0);
    assert_int_equal(copied(w, job, n), bytes);
}

static void a_log_is_followed(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, one_minute);
    stage_run(&w, 30 * SECOND);
    assert_true(copied(&w, job, 1) > 1000);
    assert_true(stage_run_until_over(&w, job, MINUTE));
    stage_run(&w, MINUTE);
    expect_whole(&w, job, 1);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0); /* cleaned up after that */
    assert_null(attempt_find(w.y, (struct attempt_id){.job = job, .n = 1}));
    stage_end(&w);
}

static void the_server_is_killed(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, one_minute);
    for (int i = 0; i < 10; i++) {
        stage_run(&w, 3 * SECOND);
        stage_kill(&w);
        stage_run(&w, 2 * SECOND);
        stage_start(&w);
    }
    assert_true(stage_run_until_over(&w, job, 2 * MINUTE));
    stage_run(&w, MINUTE);
    expect_whole(&w, job, 1);
    stage_end(&w);
}

static void the_node_cannot_be_reached_at_its_end(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, one_minute);
    stage_run(&w, 59 * SECOND);
    assert_true(stage_run_until_over(&w, job, 2 * SECOND));
    fake_cut_node(w.fake, 0, fake_now(w.fake) + 10 * MINUTE);
    stage_run(&w, MINUTE);
    assert_true(copied(&w, job, 1) < fake_log_bytes(w.fake, (struct attempt_id){job, 1, 0}));
    stage_kill(&w); /* a later server knows that something is missing */
    stage_start(&w);
    assert_state(&w, job, JOB_DONE);
    assert_non_null(attempt_find(w.y, (struct attempt_id){.job = job, .n = 1}));
    stage_run(&w, 10 * MINUTE);
    expect_whole(&w, job, 1);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

static void every_attempt_has_its_own(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=20\", \"code=3\"],"
                                   " \"retries\": 2, \"backoff\": \"1s\"}");
    assert_true(stage_run_until_over(&w, job, 5 * MINUTE));
    stage_run(&w, MINUTE);
    for (uint32_t n = 1; n <= 3; n++)
        expect_whole(&w, job, n);
    stage_end(&w);
}

static void what_never_ran_has_no_log(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    fake_set_faults(w.fake, &(struct fake_faults){.op_fails = 1});
    int64_t job = stage_submit(&w, one_minute);
    stage_run(&w, 5 * SECOND);
    fake_set_faults(w.fake, &(struct fake_faults){0});
    assert_true(stage_run_until_over(&w, job, 10 * MINUTE));
    stage_run(&w, MINUTE);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(w.y->attempts.n, 0);
    stage_end(&w);
}

/* Bytes that were removed before they could be fetched. */
static void a_log_with_a_gap(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, one_minute);
    stage_run(&w, 10 * SECOND);
    struct attempt_id id = {job, 1, 0};
    int64_t offset = 7 * ATTEMPT_LOG_MAX;
    assert_true(copied(&w, job, 1) > 0);
    log_copy_take(&w.y->host, id, offset, "after", 5);
    log_copy_take(&w.y->host, id, offset + 3, "er the gap", 10);
    AUTO_FREE char *path = attempt_dir(w.y, job, 1);
    AUTO_CLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char bytes[64];
    size_t got;
    int64_t from = 0, first, end;
    assert_ok(logread(dir, ATTEMPT_LOG_MAX, &from, bytes, sizeof bytes, &got, &err), err);
    assert_int_equal(from, offset);
    assert_int_equal(got, 13);
    assert_memory_equal(bytes, "after the gap", 13);
    assert_ok(logread_span(dir, ATTEMPT_LOG_MAX, &first, &end, &err), err);
    assert_int_equal(end, offset + 13);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(a_log_is_followed),
    TEST(the_server_is_killed),
    TEST(the_node_cannot_be_reached_at_its_end),
    TEST(every_attempt_has_its_own),
    TEST(what_never_ran_has_no_log),
    TEST(a_log_with_a_gap),
};

int main(void)
{
    return RUN(tests);
}
