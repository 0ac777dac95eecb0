/* What the server expects of jobs, and what policies make of it: ends with their bands,
 * speeds measured on several sizes, and both after a restart of the server. */
#include "server/jobs/estimate.h"

#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options one_node = {
    .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 5 * USEC_PER_SEC};

/* When the job is expected to end, in seconds from now. */
static struct range expect(struct stage *w, int64_t job)
{
    const struct live_job *j = yard_live(w->y, job);
    struct range left;
    assert_non_null(j);
    assert_true(estimate_left(w->y, j, &left));
    return left;
}

/* Runs to the end; seconds that took. */
static double run_to_end(struct stage *w, int64_t job)
{
    usec_t from = w->now;
    assert_true(stage_run_until_over(w, job, 3600 * SECOND));
    assert_state(w, job, JOB_DONE);
    return time_seconds(w->now - from);
}

static void a_resized_job_ends_within_its_band(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=100\"]}");
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=900\", \"steps=90000\","
                                   " \"serial=0.3\"], \"cpus\": \"1-2\"}");
    stage_run(&w, 50 * SECOND);
    /* On one CPU, until the other ends. */
    struct range alone = expect(&w, job);
    assert_near(alone.mid, 850, 10);
    assert_true(stage_run_until_over(&w, other, 2 * MINUTE));
    /* Right after the change, before any report. Nobody has seen it on two CPUs, so it is expected
     * to be almost twice as fast. */
    assert_near(expect(&w, job).mid, 410, 15);
    stage_run(&w, MINUTE);
    /* On both: the serial part stays. */
    struct range both = expect(&w, job);
    double done = 50 + 50 + 60 / 0.65;
    double truth = (900 - done) * 0.65;
    assert_near(both.mid, truth, 0.05 * truth);
    assert_true(truth >= both.low && truth <= both.high);
    /* On one again, to the end. */
    stage_submit(&w, "{\"command\": [\"fake\", \"work=3600\"]}");
    stage_run(&w, SECOND);
    assert_int_equal(yard_live(w.y, job)->attempt->cpus, UNIT);
    assert_near(expect(&w, job).mid, 900 - done, 15); /* before it reports */
    stage_run(&w, MINUTE - SECOND);
    struct range again = expect(&w, job);
    assert_near(again.mid, 900 - done - 60, 12);
    double took = run_to_end(&w, job);
    assert_true(took >= again.low && took <= again.high);
    stage_end(&w);
}

static void a_measured_curve_replaces_the_assumption(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=100\"]}");
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=900\", \"steps=90000\","
                                   " \"serial=0.5\"], \"cpus\": \"1-2\"}");
    stage_run(&w, 50 * SECOND);
    const struct live_job *j = yard_live(w.y, job);
    assert_near(speed_at(job_speed(yard_task(w.y, j)->job, POOL_CPU), 2 * UNIT), 2, 0.001);
    assert_true(stage_run_until_over(&w, other, 2 * MINUTE));
    stage_run(&w, 2 * MINUTE);
    assert_near(speed_at(job_speed(yard_task(w.y, j)->job, POOL_CPU), 2 * UNIT), 1 / 0.75, 0.1);
    /* The engine expects the same end. */
    const struct task *t = yard_task(w.y, j);
    double end = time_seconds(task_end(t, clock_now(&w.y->clock)) - clock_now(&w.y->clock));
    double expected = expect(&w, job).mid; /* it is told of changes of a twentieth */
    assert_near(end, expected, 0.06 * expected);
    stage_end(&w);
}

static void what_was_measured_survives_a_restart(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=100\"]}");
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=900\", \"steps=90000\","
                                   " \"serial=0.5\"], \"cpus\": \"1-2\"}");
    assert_true(stage_run_until_over(&w, other, 3 * MINUTE));
    stage_run(&w, 2 * MINUTE);
    stage_stop(&w);
    stage_start(&w);
    const struct live_job *j = yard_live(w.y, job);
    assert_int_equal(j->estimate.fit.sizes, 2);
    assert_near(speed_at(job_speed(yard_task(w.y, j)->job, POOL_CPU), 2 * UNIT), 1 / 0.75, 0.1);
    /* Also what follows from it, before the job has reported anything to the new server. */
    const struct task *t = yard_task(w.y, j);
    double end = time_seconds(task_end(t, clock_now(&w.y->clock)) - clock_now(&w.y->clock));
    struct range left = expect(&w, job);
    assert_near(end, left.mid, 0.06 * left.mid);
    double took = run_to_end(&w, job);
    assert_true(took >= left.low - 5 && took <= left.high + 5); /* a report's time */
    stage_end(&w);
}

static void a_job_that_says_no_total_has_no_expected_end(void **state)
{
    struct stage w;
    struct range left;
    (void)state;
    stage_begin(&w, &one_node, "elastic-fifo");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=900\"]}");
    stage_run(&w, MINUTE);
    assert_false(estimate_left(w.y, yard_live(w.y, job), &left));
    assert_false(estimate_knows_work(yard_live(w.y, job)));
    stage_end(&w);
}

/* It reports until it is killed: what is known of it must not be lost by that. */
static void a_job_that_is_stopped_stays_long(void **state)
{
    struct stage w;
    (void)state;
    stage_begin(&w, &one_node, "srtf");
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=1000000\", \"steps=100000\","
                                   " \"deaf\"], \"cpus\": 2, \"grace\": \"30s\","
                                   " \"preempt\": \"restart\"}");
    stage_run(&w, MINUTE);
    int64_t other = stage_submit(&w, "{\"command\": [\"fake\", \"work=20\"], \"cpus\": 2}");
    assert_true(stage_run_until_over(&w, other, 2 * MINUTE));
    assert_state(&w, other, JOB_DONE);
    stage_run(&w, SECOND);
    assert_state(&w, job, JOB_RUNNING);
    assert_int_equal(stage_job(&w, job)->attempt, 2);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(a_resized_job_ends_within_its_band),   TEST(a_measured_curve_replaces_the_assumption),
    TEST(what_was_measured_survives_a_restart), TEST(a_job_that_says_no_total_has_no_expected_end),
    TEST(a_job_that_is_stopped_stays_long),
};

int main(void)
{
    return RUN(tests);
}
