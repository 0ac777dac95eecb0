/* What happens after a failure: how often a job is started again, when, and what does not
 * count as its failure. */
#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static void a_job_fails_after_its_retries(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1', 'code=3'], 'retries': 2,"
                                  " 'backoff': '5s'}");
    assert_true(stage_run_until_over(w, job, HOUR));
    assert_state(w, job, JOB_FAILED);
    assert_int_equal(stage_job(w, job)->code, 3);
    assert_int_equal(stage_job(w, job)->failures, 3);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 3);
    assert_string_equal(stage_job(w, job)->reason, "exit code 3");
}

static void each_pause_is_twice_the_one_before(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1', 'code=3'], 'retries': 4,"
                                  " 'backoff': '10s'}");
    assert_true(stage_run_until_over(w, job, HOUR));
    for (uint32_t n = 1; n < 5; n++) {
        usec_t ended = stage_attempt(w, job, n)->ended;
        usec_t pause = stage_attempt(w, job, n + 1)->started - ended, want = 10 * SECOND << (n - 1);
        assert_in_range(pause, want, want + SECOND);
    }
}

static void a_pause_goes_on_under_another_server(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1', 'code=3'], 'retries': 1,"
                                  " 'backoff': '60s'}");
    stage_run(w, 10 * SECOND);
    stage_kill(w);
    stage_run(w, 20 * SECOND);
    stage_start(w);
    stage_run(w, 20 * SECOND);
    assert_state(w, job, JOB_QUEUED);
    assert_true(stage_run_until_over(w, job, 20 * SECOND));
}

/* Back-off is by the wall clock. */
static void a_pause_ends_when_the_clock_is_set(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1', 'code=3'], 'retries': 1,"
                                  " 'backoff': '1h'}");
    stage_run(w, 10 * SECOND);
    w->set_by += HOUR;
    assert_true(stage_run_until_over(w, job, 2 * MINUTE));
}

static void a_failed_start_is_not_the_fault_of_the_job(void **state)
{
    struct stage *w = *state;
    fake_set_faults(w->fake, &(struct fake_faults){.op_fails = 1});
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1']}");
    stage_run(w, MINUTE);
    fake_set_faults(w->fake, &(struct fake_faults){0});
    assert_int_equal(stage_job(w, job)->failures, 0);
    assert_true(stage_run_until_over(w, job, 10 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
}

/* Starts fail; that they did not begin is found out when operations succeed again. */
static void a_node_that_refuses_is_left_alone_for_longer_each_time(void **state)
{
    struct stage *w = *state;
    const struct yard_node *node = &w->y->nodes.at[0];
    fake_set_faults(w->fake, &(struct fake_faults){.op_fails = 1});
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1']}");
    for (unsigned i = 0; i < 5; i++) {
        fake_set_faults(w->fake, &(struct fake_faults){0});
        while (node->refusals == i)
            stage_run(w, SECOND / 100);
        usec_t pause = node->closed_until - clock_now(&w->y->clock);
        assert_in_range(pause, (SECOND << i) - SECOND / 10, SECOND << i);
        fake_set_faults(w->fake, &(struct fake_faults){.op_fails = 1});
        stage_run(w, pause + SECOND / 10);
    }
    assert_true(nodes_gave_up(node));
    fake_set_faults(w->fake, &(struct fake_faults){0});
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(node->refusals, 0);
    assert_int_equal(w->y->engine.cluster.nodes[0].state, NODE_UP);
}

/* Until starts fail five times in a row. */
static void refuse_five_starts(struct stage *w)
{
    struct yard_node *node = &w->y->nodes.at[0];
    while (node->refusals < 5)
        nodes_refused(w->y, 0, "no inodes left");
    stage_turn(w);
    assert_int_equal(w->y->engine.cluster.nodes[0].state, NODE_DRAINING);
}

static void a_node_that_keeps_refusing_is_drained_until_a_start_succeeds(void **state)
{
    struct stage *w = *state;
    refuse_five_starts(w);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1']}");
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_QUEUED);
    assert_true(stage_run_until_over(w, job, MINUTE)); /* the pause of 16 s is over */
    assert_state(w, job, JOB_DONE);
    assert_false(nodes_gave_up(&w->y->nodes.at[0]));
    assert_int_equal(w->y->engine.cluster.nodes[0].state, NODE_UP);
}

static void a_user_undrains_a_node_that_keeps_refusing(void **state)
{
    struct stage *w = *state;
    struct err err;
    refuse_five_starts(w);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1']}");
    assert_ok(nodes_drain(w->y, 0, false, &err), err);
    stage_run(w, 5 * SECOND);
    assert_state(w, job, JOB_DONE);
    assert_null(w->y->nodes.at[0].refusal);
}

static void a_lost_attempt_counts_unless_the_job_forgives(void **state)
{
    struct stage *w = *state;
    int64_t once = stage_submit(w, "{'command': ['fake', 'work=60'], 'retries': 1,"
                                   " 'backoff': '1s'}");
    int64_t again = stage_submit(w, "{'command': ['fake', 'work=60'], 'requeue': true}");
    stage_run(w, 10 * SECOND);
    fake_reboot_node(w->fake, 0);
    stage_run(w, 30 * SECOND);
    assert_int_equal(stage_job(w, once)->failures, 1);
    assert_int_equal(stage_job(w, again)->failures, 0);
    assert_int_equal(stage_job(w, once)->attempt, 2);
    assert_int_equal(stage_job(w, again)->attempt, 2);
    fake_reboot_node(w->fake, 0);
    stage_run(w, 30 * SECOND);
    assert_state(w, once, JOB_FAILED);
    assert_string_equal(stage_job(w, once)->reason, "its conductor died");
    assert_true(stage_run_until_over(w, again, 2 * MINUTE));
    assert_state(w, again, JOB_DONE);
}

static void a_preemption_does_not_count(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job =
        stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 2, 'preempt': 'restart'}");
    stage_run(w, 5 * SECOND);
    stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 2, 'deadline': '1h'}");
    stage_run(w, 5 * SECOND);
    assert_state(w, job, JOB_QUEUED);
    assert_non_null(strstr(stage_job(w, job)->reason, "preempted by job 2 at "));
    assert_int_equal(stage_job(w, job)->failures, 0);
    assert_true(stage_run_until_over(w, job, 10 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 2);
}

static void a_user_who_requeues_begins_from_zero(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=1', 'code=3'], 'retries': 1,"
                                  " 'backoff': '1s'}");
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_ok(verb_requeue(w->y, job, false, NULL, &err), err);
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_int_equal(stage_job(w, job)->failures, 2);
    assert_int_equal(stage_job(w, job)->attempt, 4);
}

/* It fails by itself before it hears that it shall stop. */
static void a_cancelled_job_is_not_tried_again(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10', 'code=3'], 'retries': 3,"
                                  " 'backoff': '1s'}");
    stage_run(w, 5 * SECOND);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 20 * SECOND);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, 5 * MINUTE);
    assert_state(w, job, JOB_CANCELLED);
    assert_int_equal(stage_job(w, job)->code, 3);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
}

/* The same when a user wants it to start again. */
static void a_job_that_fails_while_it_is_requeued_starts_again(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10', 'code=3']}");
    stage_run(w, 5 * SECOND);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 20 * SECOND);
    assert_ok(verb_requeue(w->y, job, false, NULL, &err), err);
    stage_run(w, 25 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_int_equal(stage_job(w, job)->attempt, 2);
    assert_int_equal(stage_job(w, job)->failures, 0);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(a_job_fails_after_its_retries),
    STAGE_TEST(each_pause_is_twice_the_one_before),
    STAGE_TEST(a_pause_goes_on_under_another_server),
    STAGE_TEST(a_pause_ends_when_the_clock_is_set),
    STAGE_TEST(a_failed_start_is_not_the_fault_of_the_job),
    STAGE_TEST(a_node_that_refuses_is_left_alone_for_longer_each_time),
    STAGE_TEST(a_node_that_keeps_refusing_is_drained_until_a_start_succeeds),
    STAGE_TEST(a_user_undrains_a_node_that_keeps_refusing),
    STAGE_TEST(a_lost_attempt_counts_unless_the_job_forgives),
    STAGE_TEST(a_preemption_does_not_count),
    STAGE_TEST(a_user_who_requeues_begins_from_zero),
    STAGE_TEST(a_cancelled_job_is_not_tried_again),
    STAGE_TEST(a_job_that_fails_while_it_is_requeued_starts_again),
};

int main(void)
{
    return RUN(tests);
}
