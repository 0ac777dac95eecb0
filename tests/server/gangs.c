/* Jobs on several nodes at once: all of their parts start or none, and they are stopped together.
 */
#include "server/jobs/gang.h"

#include "server/jobs/verbs.h"
#include "server/nodes.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options three_nodes = {.seed = 1,
                                                .nodes = 3,
                                                .cpus = 2 * UNIT,
                                                .memory_mb = 8192,
                                                .lost_after = 5 * SECOND,
                                                .report = 10 * SECOND};

#define GANG(more)                                                                                 \
    "{'command': ['fake', 'work=200'" more "], 'image': 'x', 'cpus': 2, 'nodes': 2, 'lease': "     \
    "'10s'}"

#define LONG                                                                                       \
    "{'command': ['fake', 'work=2000'], 'image': 'x', 'cpus': 2, 'nodes': 2, 'lease': '10s'}"

static void begin(struct stage *w)
{
    stage_begin(w, &three_nodes, "fifo");
    w->images = true;
    stage_start(w);
}

static uint32_t parts_that_run(struct stage *w, int64_t job)
{
    return fake_truth_of(w->fake, job).running;
}

/* Two nodes with two CPUs each, from the beginning to the end. */
static void runs_on_two_nodes(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, GANG());
    stage_run(&w, 20 * SECOND);
    assert_state(&w, job, JOB_RUNNING);
    const struct attempt *head = yard_live(w.y, job)->attempt;
    assert_int_equal(gang_size(head), 2);
    assert_int_equal(gang_cpus(head), 4 * UNIT);
    assert_true(head->node != head->next_part->node);
    assert_int_equal(parts_that_run(&w, job), 2);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
    assert_int_equal(fake_cpus_in_use(w.fake, 1), 2 * UNIT);
    assert_int_equal(fake_cpus_in_use(w.fake, 2), 0);
    assert_true(stage_run_until_over(&w, job, 5 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    stage_run(&w, 10 * SECOND);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* A job that needs two nodes waits while only one is free, and takes none of it. */
static void waits_for_all_of_them(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t first = stage_submit(&w, GANG()), second = stage_submit(&w, GANG());
    stage_run(&w, 20 * SECOND);
    assert_state(&w, first, JOB_RUNNING);
    assert_state(&w, second, JOB_QUEUED);
    assert_int_equal(fake_cpus_in_use(w.fake, 2), 0);
    assert_true(stage_run_until_over(&w, second, 10 * MINUTE));
    assert_state(&w, second, JOB_DONE);
    stage_end(&w);
}

/* When one part fails, the others are stopped and the job has failed, once. */
static void fails_as_one(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, GANG());
    stage_run(&w, 20 * SECOND);
    fake_kill_conductor(w.fake, 1);
    assert_true(stage_run_until_over(&w, job, 3 * MINUTE) || stage_job(&w, job)->attempt == 2);
    stage_run(&w, 5 * MINUTE);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(stage_job(&w, job)->failures, 0);
    assert_non_null(strstr(stage_attempt(&w, job, 1)->reason, "node2 ended: "));
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

static void ends_with_the_code_of_the_part(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, GANG(", 'code=3'"));
    assert_true(stage_run_until_over(&w, job, 5 * MINUTE));
    assert_state(&w, job, JOB_FAILED);
    assert_int_equal(stage_job(&w, job)->code, 3);
    stage_run(&w, 10 * SECOND);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

static void is_cancelled_everywhere(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, GANG());
    stage_run(&w, 20 * SECOND);
    assert_ok(verb_cancel(w.y, job, -1, &err), err);
    stage_run(&w, 20 * SECOND);
    assert_state(&w, job, JOB_CANCELLED);
    assert_int_equal(parts_that_run(&w, job), 0);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

/* A node that is lost with a part: its lease ends, the other part is stopped, and the job runs
 * again on the nodes that are left. No part ever runs twice. */
static void survives_a_lost_node(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, LONG);
    stage_run(&w, 20 * SECOND);
    fake_cut_node(w.fake, 1, fake_now(w.fake) + 30 * MINUTE);
    stage_run(&w, 3 * MINUTE);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
    assert_int_equal(fake_cpus_in_use(w.fake, 2), 2 * UNIT);
    assert_true(stage_run_until_over(&w, job, 30 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->failures, 0);
    assert_int_equal(fake_overlaps(w.fake), 0);
    stage_end(&w);
}

/* Another server finds all parts again, and what they were stopped for. */
static void is_adopted(void **state)
{
    struct stage w;
    (void)state;
    begin(&w);
    int64_t job = stage_submit(&w, GANG());
    stage_run(&w, 20 * SECOND);
    stage_kill(&w);
    stage_run(&w, 4 * SECOND);
    stage_start(&w);
    stage_run(&w, 10 * SECOND);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(gang_size(yard_live(w.y, job)->attempt), 2);
    fake_kill_conductor(w.fake, 1);
    stage_run(&w, 3 * SECOND);
    stage_kill(&w);
    stage_run(&w, SECOND);
    stage_start(&w);
    stage_run(&w, 5 * MINUTE);
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    assert_int_equal(stage_job(&w, job)->failures, 0);
    assert_int_equal(fake_overlaps(w.fake), 0);
    assert_int_equal(fake_truth_of(w.fake, job).left, 0);
    stage_end(&w);
}

static void must_be_possible(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    begin(&w);
    assert_int_equal(stage_try_submit(&w, "{'command': ['fake'], 'cpus': 1, 'nodes': 2}", &err),
                     -1);
    assert_non_null(strstr(err.text, "give an image"));
    assert_int_equal(
        stage_try_submit(&w, "{'command': ['fake'], 'image': 'x', 'cpus': '1-2', 'nodes': 2}",
                         &err),
        -1);
    assert_non_null(strstr(err.text, "one whole number"));
    static const char four[] = "{'command': ['fake'], 'image': 'x', 'nodes': 4}";
    assert_int_equal(stage_try_submit(&w, four, &err), -1);
    assert_non_null(strstr(err.text, "needs 4 CPUs on nodes of their own"));
    fake_add_node(w.fake, 2 * UNIT, 8192);
    stage_run(&w, SECOND);
    int64_t job = stage_submit(&w, four);
    assert_true(stage_run_until_over(&w, job, MINUTE));
    assert_state(&w, job, JOB_DONE);
    stage_end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_on_two_nodes),
        cmocka_unit_test(waits_for_all_of_them),
        cmocka_unit_test(fails_as_one),
        cmocka_unit_test(ends_with_the_code_of_the_part),
        cmocka_unit_test(is_cancelled_everywhere),
        cmocka_unit_test(survives_a_lost_node),
        cmocka_unit_test(is_adopted),
        cmocka_unit_test(must_be_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
