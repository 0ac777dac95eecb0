/* Who makes room for an urgent job, how, and what the users of both are told. */
#include <jansson.h>
#include <string.h>

#include "runtime/fake_world.h"
#include "server/jobs/verbs.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static int64_t submit_urgent(struct stage *w)
{
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=120'], 'cpus': 2, 'priority': 1}");
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    return job;
}

static void a_job_without_a_checkpoint_is_frozen(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2}");
    stage_run(w, MINUTE);
    int64_t urgent = submit_urgent(w);
    assert_true(w->fake->attempts.at[0].frozen);
    stage_expect_told(w, job, "It was preempted by job 2 at ");
    stage_expect_told(w, job, ", lost nothing: it is frozen in place.");
    assert_non_null(strstr(stage_job(w, job)->reason, "preempted by job 2 at "));
    assert_true(stage_run_until_over(w, urgent, 5 * MINUTE));
    assert_true(stage_run_until_over(w, job, 10 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

/* Whoever froze it is known after a restart of the server, too. */
static void a_frozen_job_survives_a_restart(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2}");
    stage_run(w, MINUTE);
    submit_urgent(w);
    stage_kill(w);
    stage_start(w);
    stage_run(w, SECOND);
    stage_expect_told(w, job, "It was preempted by job 2 at ");
    assert_true(stage_run_until_over(w, 2, 5 * MINUTE));
    stage_run(w, SECOND);
    stage_kill(w);
    stage_start(w);
    stage_run(w, SECOND);
    stage_expect_told(w, job, "It was preempted by job 2 at ");
    stage_expect_told(w, job, ": it was frozen in place for 1m00s.");
    assert_true(stage_run_until_over(w, job, 20 * MINUTE));
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

static void a_job_whose_memory_is_in_the_way_is_left_alone(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2, 'memory': '6g'}");
    stage_run(w, MINUTE);
    int64_t urgent = stage_submit(
        w, "{'command': ['fake', 'work=120'], 'cpus': 2, 'priority': 1, 'memory': '6g'}");
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_RUNNING);
    assert_state(w, urgent, JOB_QUEUED);
    assert_true(stage_run_until_over(w, urgent, 20 * MINUTE));
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

static void a_job_with_a_checkpoint_is_stopped(void **state)
{
    static const char *const declared[] = {"'checkpoint_dir': '/c'", "'checkpoint_signal': 'TERM'",
                                           "'resize': 'restart'", "'preempt': 'restart'"};
    struct stage *w = *state;
    for (size_t i = 0; i < COUNT_OF(declared); i++) {
        struct str request = {0};
        str_addf(&request, "{'command': ['fake', 'work=600', 'saves'], 'cpus': 2, %s}",
                 declared[i]);
        int64_t job = stage_submit(w, request.at);
        stage_run(w, MINUTE);
        int64_t urgent = submit_urgent(w);
        assert_state(w, job, JOB_QUEUED);
        const struct attempt_row *a = stage_attempt(w, job, 1);
        assert_int_equal(a->stopped_by, urgent);
        if (i < 3)
            assert_int_equal(a->lost, 0);
        else
            assert_in_range(a->lost, 55 * SECOND, 65 * SECOND); /* it declared nothing */
        stage_expect_told(w, job, i < 3 ? ", lost nothing." : ", lost 1m0");
        assert_true(stage_run_until_over(w, job, 20 * MINUTE));
        assert_int_equal(stage_job(w, job)->attempt, 2);
        str_done(&request);
    }
}

/* It says that it saves nothing, but its steps show what it did. */
static void steps_show_what_was_lost(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600', 'steps=300'], 'cpus': 2,"
                                  " 'checkpoint_dir': '/c'}");
    stage_run(w, 2 * MINUTE);
    int64_t urgent = submit_urgent(w);
    assert_true(stage_run_until_over(w, urgent, 5 * MINUTE));
    stage_run(w, 20 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_in_range(stage_attempt(w, job, 1)->lost, 100 * SECOND, 130 * SECOND);
    stage_expect_told(w, job, "It was preempted by job 2 at ");
}

/* One that asks whether to save a checkpoint can be stopped. */
static void a_job_that_asks_for_checkpoints_is_stopped(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600', 'saves'], 'cpus': 2}");
    stage_run(w, MINUTE);
    struct to_server m = {.kind = TO_SERVER_USAGE,
                          .usage = {.at = clock_wall(&w->y->clock), .saves = true}};
    struct attempt *a = yard_live(w->y, job)->attempt;
    w->y->host.message(&w->y->host, a->link, &m);
    stage_turn(w);
    stage_kill(w); /* and this is not forgotten */
    stage_start(w);
    stage_run(w, SECOND);
    submit_urgent(w);
    assert_state(w, job, JOB_QUEUED);
    assert_string_equal(stage_attempt(w, job, 1)->stop, "preempt");
}

/* After a preemption a job runs for a while before the next one. */
static void a_job_is_not_preempted_again_at_once(void **state)
{
    struct stage *w = *state;
    stage_stop(w);
    w->min_run = 5 * MINUTE;
    stage_start(w);
    int64_t job = stage_submit(
        w, "{'command': ['fake', 'work=6000', 'saves'], 'cpus': 2, 'checkpoint_dir': '/c'}");
    stage_run(w, MINUTE);
    int64_t first = submit_urgent(w);
    assert_true(stage_run_until_over(w, first, 5 * MINUTE));
    int64_t second = stage_submit(w, "{'command': ['fake', 'work=10'], 'cpus': 2, 'priority': 1}");
    stage_run(w, 4 * MINUTE);
    assert_state(w, job, JOB_RUNNING);
    assert_state(w, second, JOB_QUEUED);
    stage_run(w, 90 * SECOND);
    assert_state(w, second, JOB_DONE);
}

/* A frozen job would lose its work: to hold it is refused. */
static void a_frozen_job_is_not_held(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2}");
    stage_run(w, MINUTE);
    submit_urgent(w);
    assert_error(verb_hold(w->y, job, &err), err, ERR_CONFLICT, "requeue --hold");
}

/* One that can be held saves itself first. Until then it counts towards the limit of its array. */
static void a_frozen_job_that_is_held_keeps_its_place(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t first = stage_submit(
        w, "{'command': ['fake', 'work=600', 'saves', 'deaf'], 'cpus': 2, 'array': '1-2%1',"
           " 'preempt': 'pause', 'checkpoint_dir': '/c', 'grace': '60s'}");
    stage_run(w, MINUTE);
    int64_t urgent = submit_urgent(w);
    assert_ok(verb_hold(w->y, first, &err), err);
    assert_ok(verb_cancel(w->y, urgent, 0, &err), err);
    stage_run(w, 30 * SECOND);
    assert_non_null(yard_live(w->y, first)->attempt);
    assert_state(w, first + 1, JOB_QUEUED);
    stage_run(w, 2 * MINUTE);
    assert_state(w, first, JOB_HELD);
    assert_state(w, first + 1, JOB_RUNNING);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        STAGE_TEST(a_job_without_a_checkpoint_is_frozen),
        STAGE_TEST(a_frozen_job_survives_a_restart),
        STAGE_TEST(a_job_whose_memory_is_in_the_way_is_left_alone),
        STAGE_TEST(a_job_with_a_checkpoint_is_stopped),
        STAGE_TEST(steps_show_what_was_lost),
        STAGE_TEST(a_job_that_asks_for_checkpoints_is_stopped),
        STAGE_TEST(a_job_is_not_preempted_again_at_once),
        STAGE_TEST(a_frozen_job_is_not_held),
        STAGE_TEST(a_frozen_job_that_is_held_keeps_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
