/* Nodes that are lost: their jobs start elsewhere when their leases are over, and never run
 * twice. */
#include "server/jobs/leases.h"

#include "server/nodes.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options two_nodes = {.seed = 1,
                                              .nodes = 2,
                                              .cpus = 2 * UNIT,
                                              .memory_mb = 8192,
                                              .lost_after = 30 * SECOND,
                                              .report = 10 * SECOND};

/* Fills the first node; the second is free. */
static int64_t begin(struct stage *w, const char *json)
{
    stage_begin(w, &two_nodes, "fifo");
    w->remote = true;
    stage_start(w);
    int64_t job = stage_submit(w, json);
    stage_run(w, SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_string_equal(stage_attempt(w, job, 1)->node, "node1");
    return job;
}

static void cut_first(struct stage *w, usec_t span)
{
    fake_cut_node(w->fake, 0, fake_now(w->fake) + span);
}

static void a_job_of_a_lost_node_starts_elsewhere(void **state)
{
    struct stage w;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=7200\"], \"cpus\": 2}");
    cut_first(&w, 60 * MINUTE);
    stage_run(&w, MINUTE);
    assert_true(w.y->nodes.at[0].lost);
    assert_state(&w, job, JOB_RUNNING);
    stage_run(&w, 4 * MINUTE); /* it may still run there */
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_run(&w, 2 * MINUTE); /* lease and grace are over */
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(stage_job(&w, job)->failures, 0);
    assert_string_equal(stage_attempt(&w, job, 2)->node, "node2");
    assert_int_equal(stage_attempt(&w, job, 1)->state, JOB_LOST);
    assert_string_equal(stage_attempt(&w, job, 1)->reason, "its node node1 was lost");
    assert_int_equal(fake_overlaps(w.fake), 0);
    assert_true(stage_run_until_over(&w, job, 120 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    stage_run(&w, MINUTE);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

static void a_node_that_returns_in_time(void **state)
{
    struct stage w;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=7200\"], \"cpus\": 2}");
    cut_first(&w, 4 * MINUTE);
    stage_run(&w, 3 * MINUTE);
    assert_true(w.y->nodes.at[0].lost);
    assert_true(stage_run_until_over(&w, job, 120 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_end(&w);
}

/* Its conductor stops the job although nothing is wrong with the node: the server was away. */
static void a_server_that_is_away_for_long(void **state)
{
    struct stage w;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=3600\", \"saves\"], \"cpus\": 2, "
                            "\"checkpoint_dir\": \"/c\"}");
    stage_kill(&w);
    stage_run(&w, 20 * MINUTE);
    stage_start(&w);
    stage_run(&w, MINUTE);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(stage_job(&w, job)->failures, 0);
    stage_end(&w);
}

static void without_a_lease_it_waits(void **state)
{
    struct stage w;
    (void)state;
    int64_t job =
        begin(&w, "{\"command\": [\"fake\", \"work=3600\"], \"cpus\": 2, \"lease\": \"none\"}");
    cut_first(&w, 60 * MINUTE);
    stage_run(&w, 50 * MINUTE);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_run(&w, 15 * MINUTE);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_end(&w);
}

/* A deaf job needs its whole grace to die; nobody starts it elsewhere before. */
static void a_job_that_does_not_listen(void **state)
{
    struct stage w;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=7200\", \"deaf\"], \"cpus\": 2, "
                            "\"grace\": \"10m\", \"lease\": \"60s\"}");
    cut_first(&w, 60 * MINUTE);
    stage_run(&w, 10 * MINUTE);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_run(&w, 3 * MINUTE);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* What is left on a node that returns is killed before it takes jobs, also by the next server. */
static void what_is_left_is_killed_first(void **state)
{
    struct stage w;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=7200\"], \"cpus\": 2}");
    cut_first(&w, 20 * MINUTE);
    stage_run(&w, 10 * MINUTE);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_true(stage_attempt(&w, job, 1)->fenced);
    stage_kill(&w);
    stage_start(&w);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 2}");
    stage_run(&w, SECOND);
    assert_int_equal(w.y->nodes.at[0].fenced, 1);
    assert_state(&w, other, JOB_QUEUED);
    assert_true(stage_run_until_over(&w, other, 30 * MINUTE));
    assert_false(stage_attempt(&w, job, 1)->fenced);
    assert_int_equal(w.y->nodes.at[0].fenced, 0);
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* The start was under way when the node was cut off: nobody knows whether it arrived. */
static void a_start_that_nobody_heard_of(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &two_nodes, "fifo");
    w.remote = true;
    stage_start(&w);
    fake_set_faults(w.fake, &(struct fake_faults){.reply_lost = 1});
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=7200\"], \"cpus\": 2}");
    cut_first(&w, 60 * MINUTE);
    stage_run(&w, 5 * MINUTE);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    fake_set_faults(w.fake, &(struct fake_faults){0});
    stage_run(&w, 10 * MINUTE);
    assert_state(&w, job, JOB_RUNNING);
    assert_string_equal(stage_attempt(&w, job, 2)->node, "node2");
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* A paused job holds no lease while it is frozen, and goes on when it is thawed. */
static void a_job_that_was_paused_for_long(void **state)
{
    struct stage w;
    struct fake_options one = two_nodes;
    (void)state;
    one.nodes = 1;
    stage_begin(&w, &one, "srtf");
    w.remote = true;
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=600\"], \"cpus\": 2}");
    stage_run(&w, SECOND);
    int64_t urgent = stage_submit(&w, "{\"command\": [\"fake\", \"work=2400\"], \"cpus\": 2, "
                                      "\"priority\": 1}");
    stage_run(&w, MINUTE);
    assert_true(stage_attempt(&w, job, 1)->paused);
    assert_true(stage_run_until_over(&w, urgent, 60 * MINUTE));
    assert_true(stage_run_until_over(&w, job, 60 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(a_job_of_a_lost_node_starts_elsewhere),
    cmocka_unit_test(a_node_that_returns_in_time),
    cmocka_unit_test(a_server_that_is_away_for_long),
    cmocka_unit_test(without_a_lease_it_waits),
    cmocka_unit_test(a_job_that_does_not_listen),
    cmocka_unit_test(what_is_left_is_killed_first),
    cmocka_unit_test(a_start_that_nobody_heard_of),
    cmocka_unit_test(a_job_that_was_paused_for_long),
};

int main(void)
{
    return RUN(tests);
}
