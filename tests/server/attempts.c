/* The life of jobs and their attempts, on the fake runtime: started, ended, failed,
 * retried, stopped, lost. */
#include "server/jobs/attempts.h"

#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static const struct fake_options one_node = {
    .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 10 * USEC_PER_SEC};

static void a_job_runs_and_is_done(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 1}");
    stage_run(&w, 1 * SECOND);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(fake_truth_of(w.fake, job).running, 1);
    stage_run(&w, 60 * SECOND);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->code, 0);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

static void an_elastic_job_uses_the_whole_node(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"cpus\": \"1-2\"}");
    stage_run(&w, 10 * SECOND);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=10\"], \"cpus\": 1}");
    stage_run(&w, 5 * SECOND);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
    assert_state(&w, other, JOB_RUNNING);
    assert_true(stage_run_until_over(&w, job, MINUTE));
    assert_state(&w, other, JOB_DONE);
    assert_state(&w, job, JOB_DONE);
    stage_end(&w);
}

static void a_failure_is_retried_with_back_off(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=1\", \"code=3\"],"
                                   " \"retries\": 2, \"backoff\": \"10s\"}");
    stage_run(&w, 5 * SECOND);
    assert_state(&w, job, JOB_QUEUED);
    assert_int_equal(stage_job(&w, job)->failures, 1);
    stage_run(&w, 10 * SECOND);
    assert_int_equal(stage_job(&w, job)->failures, 2);
    stage_run(&w, 15 * SECOND);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_true(stage_run_until_over(&w, job, MINUTE));
    assert_state(&w, job, JOB_FAILED);
    assert_int_equal(stage_job(&w, job)->code, 3);
    assert_int_equal(fake_truth_of(w.fake, job).begun, 3);
    stage_end(&w);
}

static void the_server_is_killed_while_a_job_runs(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"]}");
    stage_run(&w, 10 * SECOND);
    stage_kill(&w);
    stage_run(&w, 10 * SECOND);
    stage_start(&w);
    assert_state(&w, job, JOB_RUNNING);
    assert_true(stage_run_until_over(&w, job, 45 * SECOND));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
    stage_end(&w);
}

static void a_job_ends_while_no_server_runs(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"retries\": 1}");
    stage_run(&w, 10 * SECOND);
    stage_kill(&w);
    stage_run(&w, 2 * MINUTE);
    stage_start(&w);
    stage_run(&w, 1 * SECOND);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
    stage_end(&w);
}

static void the_server_is_killed_at_each_step_of_a_start(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < 6; actions++) {
        struct stage w;
        struct err err;
        stage_begin(&w, &one_node, "elastic-fifo");
        stage_start(&w);
        fake_mute_after(w.fake, actions);
        int64_t job = stage_try_submit(&w, "{\"command\": [\"fake\", \"work=60\"]}", &err);
        assert_true(job > 0);
        stage_run(&w, actions * SECOND);
        stage_kill(&w);
        fake_mute_after(w.fake, UINT32_MAX);
        stage_run(&w, 10 * SECOND);
        stage_start(&w);
        assert_true(stage_run_until_over(&w, job, 3 * MINUTE));
        assert_state(&w, job, JOB_DONE);
        stage_run(&w, SECOND);
        assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
        assert_int_equal(fake_truth_of(w.fake, job).left, 0);
        stage_end(&w);
    }
}

static void a_cancelled_job_stops(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=600\", \"deaf\"],"
                                   " \"grace\": \"20s\"}");
    stage_run(&w, 10 * SECOND);
    assert_ok(verb_cancel(w.y, job, -1, &err), err);
    stage_run(&w, 10 * SECOND);
    assert_state(&w, job, JOB_STOPPING);
    stage_run(&w, 15 * SECOND);
    assert_state(&w, job, JOB_CANCELLED);
    assert_int_equal(fake_truth_of(w.fake, job).running, 0);
    stage_end(&w);
}

static void a_killed_conductor_is_noticed(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t once = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"]}");
    int64_t again = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"requeue\": true}");
    stage_run(&w, 10 * SECOND);
    fake_reboot_node(w.fake, 0);
    stage_run(&w, 30 * SECOND);
    assert_state(&w, once, JOB_FAILED);
    assert_state(&w, again, JOB_RUNNING);
    assert_true(stage_run_until_over(&w, again, 2 * MINUTE));
    assert_state(&w, again, JOB_DONE);
    assert_int_equal(stage_job(&w, again)->attempt, 2);
    stage_end(&w);
}

/* The fake runtime has no launcher. That is not a fault of the node, where others run on. */
static void what_can_never_start_fails(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "fifo");
    stage_start(&w);
    int64_t job =
        stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"resize\": \"torchrun\"}");
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"]}");
    stage_run(&w, 10 * SECOND);
    assert_state(&w, job, JOB_FAILED);
    assert_int_equal(stage_job(&w, job)->code, 125);
    assert_non_null(strstr(stage_job(&w, job)->reason, "TRAINYARD_TORCHRUN"));
    assert_state(&w, other, JOB_RUNNING);
    assert_int_equal(w.y->nodes.at[0].refusals, 0);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(a_job_runs_and_is_done),
    TEST(an_elastic_job_uses_the_whole_node),
    TEST(a_failure_is_retried_with_back_off),
    TEST(the_server_is_killed_while_a_job_runs),
    TEST(a_job_ends_while_no_server_runs),
    TEST(the_server_is_killed_at_each_step_of_a_start),
    TEST(a_cancelled_job_stops),
    TEST(a_killed_conductor_is_noticed),
    TEST(what_can_never_start_fails),
};

int main(void)
{
    return RUN(tests);
}
