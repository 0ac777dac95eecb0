/* Jobs that move to another node, by hand or by a drain. */
#include "server/jobs/move.h"

#include "server/jobs/verbs.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options two_nodes = {
    .seed = 1, .nodes = 2, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 10 * SECOND};

static const char saves[] = "{\"command\": [\"fake\", \"work=600\", \"saves\", \"steps=600\"], "
                            "\"cpus\": 2, \"checkpoint_dir\": \"/c\"}";

static int64_t begin(struct stage *w, const char *json)
{
    stage_begin(w, &two_nodes, "fifo");
    w->remote = true;
    stage_start(w);
    int64_t job = stage_submit(w, json);
    stage_run(w, 100 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_string_equal(stage_attempt(w, job, 1)->node, "node1");
    return job;
}

/* It continues on the other node where it was: 600 s of work on two CPUs take 300 s. */
static void expect_moved(struct stage *w, int64_t job)
{
    stage_run(w, 20 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    assert_int_equal(stage_job(w, job)->attempt, 2);
    assert_string_equal(stage_attempt(w, job, 2)->node, "node2");
    assert_string_equal(stage_attempt(w, job, 1)->stop, "move");
    assert_int_equal(fake_cpus_in_use(w->fake, 0), 0);
    assert_int_equal(fake_cpus_in_use(w->fake, 1), 2 * UNIT);
    assert_true(stage_run_until_over(w, job, 250 * SECOND));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->failures, 0);
    assert_int_equal(fake_overlaps(w->fake), 0);
}

static void by_hand(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, saves);
    assert_int_equal(verb_migrate(w.y, job, "node1", &err), -1);
    assert_int_equal(err.code, ERR_CONFLICT);
    assert_int_equal(verb_migrate(w.y, job, "node3", &err), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_ok(verb_migrate(w.y, job, "node2", &err), err);
    assert_int_equal(verb_migrate(w.y, job, "node2", &err), -1);
    expect_moved(&w, job);
    assert_true(stage_job(&w, job)->move_cost > 0);
    stage_end(&w);
}

static void by_a_drain(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, saves);
    assert_ok(nodes_drain(w.y, 0, true, &err), err);
    expect_moved(&w, job);
    stage_end(&w);
}

static void without_a_checkpoint(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=600\"], \"cpus\": 2}");
    assert_int_equal(verb_migrate(w.y, job, NULL, &err), -1);
    assert_non_null(strstr(err.text, "has no checkpoint"));
    assert_ok(nodes_drain(w.y, 0, true, &err), err);
    assert_true(stage_run_until_over(&w, job, 10 * MINUTE));
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_end(&w);
}

static void no_room(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, saves), other = stage_submit(&w, saves);
    stage_run(&w, SECOND);
    assert_state(&w, other, JOB_RUNNING);
    assert_int_equal(verb_migrate(w.y, job, NULL, &err), -1);
    assert_string_equal(err.text, "no other node has room for it now");
    stage_end(&w);
}

/* Nothing starts in its place before it has left. */
static void its_place_is_free_when_it_has_left(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, "{\"command\": [\"fake\", \"work=600\", \"deaf\"], \"cpus\": 2, "
                            "\"checkpoint_dir\": \"/c\", \"grace\": \"30s\"}");
    assert_ok(verb_migrate(w.y, job, "node2", &err), err);
    int64_t next = stage_submit(&w, "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 2}");
    stage_run(&w, 20 * SECOND);
    assert_int_equal(fake_truth_of(w.fake, next).running, 0);
    assert_int_equal(fake_truth_of(w.fake, job).running, 1);
    stage_run(&w, 15 * SECOND);
    assert_int_equal(fake_truth_of(w.fake, next).running, 1);
    assert_string_equal(stage_attempt(&w, job, 2)->node, "node2");
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* The next server finds the job stopping, or stopped, and starts it again. */
static void a_server_that_dies_meanwhile(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, saves);
    assert_ok(verb_migrate(w.y, job, "node2", &err), err);
    stage_turn(&w);
    stage_kill(&w);
    stage_run(&w, 10 * SECOND);
    stage_start(&w);
    stage_run(&w, 10 * SECOND);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(fake_truth_of(w.fake, job).running, 1);
    assert_true(stage_run_until_over(&w, job, 10 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

static void cancelled_meanwhile(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    int64_t job = begin(&w, saves);
    assert_ok(verb_migrate(w.y, job, "node2", &err), err);
    stage_turn(&w);
    assert_ok(verb_cancel(w.y, job, -1, &err), err);
    stage_run(&w, MINUTE);
    assert_state(&w, job, JOB_CANCELLED);
    assert_int_equal(stage_job(&w, job)->attempt, 1);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(by_hand),
    cmocka_unit_test(by_a_drain),
    cmocka_unit_test(without_a_checkpoint),
    cmocka_unit_test(no_room),
    cmocka_unit_test(its_place_is_free_when_it_has_left),
    cmocka_unit_test(a_server_that_dies_meanwhile),
    cmocka_unit_test(cancelled_meanwhile),
};

int main(void)
{
    return RUN(tests);
}
