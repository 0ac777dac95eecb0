/* What becomes of jobs when their machine goes down or was restarted. */
#include <string.h>

#include "server/shutdown.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const char with_checkpoint[] =
    "{'command': ['fake', 'work=1200', 'saves'], 'checkpoint_dir': '/c', 'grace': '20s'}";

/* Power was lost: nobody could save anything then, but a checkpoint may be there. */
static void jobs_with_a_checkpoint_continue_after_a_reboot(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, with_checkpoint);
    int64_t plain = stage_submit(w, "{'command': ['fake', 'work=600']}");
    stage_run(w, MINUTE);
    stage_reboot(w);
    stage_run(w, MINUTE);
    stage_start(w);
    stage_run(w, 5 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_int_equal(stage_job(w, job)->attempt, 2);
    assert_int_equal(stage_job(w, job)->failures, 0);
    assert_state(w, plain, JOB_FAILED);
    assert_string_equal(stage_job(w, plain)->reason, "the machine was restarted");
}

static void a_shutdown_waits_for_jobs(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, with_checkpoint);
    int64_t deaf = stage_submit(w, "{'command': ['fake', 'work=600', 'deaf'], 'requeue': true,"
                                   " 'grace': '30s'}");
    stage_run(w, MINUTE);
    int64_t waits = stage_submit(w, "{'command': ['fake', 'work=10'], 'cpus': 2}");
    shutdown_begin(w->y);
    stage_turn(w);
    stage_run(w, 25 * SECOND);
    assert_state(w, job, JOB_QUEUED);
    assert_state(w, waits, JOB_QUEUED);
    assert_false(shutdown_over(w->y)); /* one takes all of its grace */
    stage_run(w, 10 * SECOND);
    assert_true(shutdown_over(w->y));
    assert_string_equal(stage_job(w, job)->reason, "the machine was shut down");
    assert_string_equal(stage_attempt(w, job, 1)->stop, "shutdown");
    stage_stop(w);
    stage_reboot(w);
    stage_start(w);
    assert_true(stage_run_until_over(w, job, 30 * MINUTE));
    assert_true(stage_run_until_over(w, deaf, 30 * MINUTE));
    assert_true(stage_run_until_over(w, waits, 30 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_state(w, deaf, JOB_DONE);
    assert_state(w, waits, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 2);
}

/* Its conductor finds that the working directory does not exist. */
static void lose_workdir(struct stage *w, int64_t job)
{
    struct to_server m = {.kind = TO_SERVER_EXIT,
                          .exit = {.job = job,
                                   .at = clock_wall(&w->y->clock),
                                   .code = 126,
                                   .no_workdir = true,
                                   .reason = "cannot enter the working directory /data"}};
    struct attempt *a = yard_live(w->y, job)->attempt;
    assert_non_null(a);
    assert_non_null(a->link);
    w->y->host.message(&w->y->host, a->link, &m);
    stage_turn(w);
}

static void a_directory_that_is_not_mounted_yet_is_waited_for(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, with_checkpoint);
    stage_run(w, 30 * MINUTE); /* the machine is up for long */
    int64_t first = stage_submit(w, with_checkpoint);
    stage_run(w, SECOND);
    lose_workdir(w, first);
    assert_state(w, first, JOB_FAILED); /* at once: it is its fault */
    assert_state(w, job, JOB_DONE);
    job = stage_submit(w, with_checkpoint);
    stage_run(w, SECOND);
    stage_reboot(w);
    stage_start(w);
    for (int i = 0; i < 3; i++) {
        stage_run(w, 2 * SECOND);
        assert_state(w, job, JOB_RUNNING);
        lose_workdir(w, job);
        assert_state(w, job, JOB_QUEUED);
        assert_non_null(strstr(stage_job(w, job)->reason, "/data; waiting until 10 minutes"));
        assert_int_equal(stage_job(w, job)->failures, 0);
        stage_run(w, 15 * SECOND);
    }
    stage_run(w, SECOND);
    assert_state(w, job, JOB_RUNNING);
    stage_run(w, 10 * MINUTE); /* long enough */
    lose_workdir(w, job);
    assert_state(w, job, JOB_FAILED);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(jobs_with_a_checkpoint_continue_after_a_reboot),
    STAGE_TEST(a_shutdown_waits_for_jobs),
    STAGE_TEST(a_directory_that_is_not_mounted_yet_is_waited_for),
};

int main(void)
{
    return RUN(tests);
}
