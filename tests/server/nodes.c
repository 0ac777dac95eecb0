/* Nodes that come and go while the server runs, or are others when it starts again. */
#include "server/nodes.h"

#include "server/jobs/eligible.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options one_node = {
    .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 10 * USEC_PER_SEC};

static const char two_cpus[] = "{\"command\": [\"fake\", \"work=120\"], \"cpus\": 2}";
static const char one_cpu[] = "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 1}";

static void begin(struct stage *w, const char *policy)
{
    stage_begin(w, &one_node, policy);
    stage_start(w);
}

static void see_wait(void *ctx, const char *text)
{
    snprintf(ctx, 256, "%s", text);
}

/* What the job waits for, outside the queue. */
static const char *waits_for(struct stage *w, int64_t job)
{
    static char text[256];
    *text = '\0';
    eligible_waits_for(w->y, yard_live(w->y, job), see_wait, text);
    return text;
}

static void a_node_joins(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    int64_t first = stage_submit(&w, two_cpus), second = stage_submit(&w, two_cpus);
    stage_run(&w, SECOND);
    assert_state(&w, first, JOB_RUNNING);
    assert_state(&w, second, JOB_QUEUED);
    fake_add_node(w.fake, 4 * UNIT, 8192);
    stage_run(&w, SECOND);
    assert_state(&w, second, JOB_RUNNING);
    assert_int_equal(fake_cpus_in_use(w.fake, 1), 2 * UNIT);
    int64_t large = stage_submit(&w, "{\"command\": [\"fake\", \"work=4\"], \"cpus\": 4}");
    assert_true(stage_run_until_over(&w, large, 3 * MINUTE));
    assert_state(&w, large, JOB_DONE);
    stage_end(&w);
}

static void a_server_without_nodes(void **state)
{
    struct stage w;
    struct fake_options none = one_node;
    struct err err;
    (void)state;
    none.nodes = 0;
    stage_begin(&w, &none, "elastic-fifo");
    stage_start(&w);
    assert_int_equal(stage_try_submit(&w, one_cpu, &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    fake_add_node(w.fake, 2 * UNIT, 8192);
    int64_t job = stage_submit(&w, two_cpus);
    assert_true(stage_run_until_over(&w, job, 3 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    stage_end(&w);
}

static void elastic_jobs_use_what_a_node_gains(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "elastic-fifo");
    stage_submit(&w, "{\"command\": [\"fake\", \"work=600\"], \"cpus\": \"1-4\"}");
    stage_run(&w, SECOND);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
    fake_set_node(w.fake, 0, 4 * UNIT, 8192);
    stage_run(&w, SECOND);
    assert_int_equal(fake_cpus_in_use(w.fake, 0), 4 * UNIT);
    stage_end(&w);
}

/* Whether jobs hold more than the first node has. */
static bool overcommitted(const struct yard *y)
{
    const struct node *has = &y->cluster.nodes[0], *held = &y->engine.cluster.nodes[0];
    return held->cpu_held > has->cpus || held->memory_held > has->memory_mb;
}

/* The node has one CPU left: what runs there goes on, what waits for two waits. */
static void expect_smaller(struct stage *w, int64_t running, int64_t waiting, int64_t small)
{
    assert_state(w, running, JOB_RUNNING);
    assert_true(overcommitted(w->y));
    stage_expect_told(w, running,
                      "hold 2 CPUs, but it has only 1 CPU now. They keep what they hold.");
    assert_string_equal(waits_for(w, waiting),
                        "a node that can run it: needs 2 CPUs on one node, but the cluster has "
                        "at most 1");
    /* One that is submitted now waits too; one that never fitted is refused. */
    struct err err;
    int64_t late = stage_submit(w, two_cpus);
    assert_non_null(strstr(waits_for(w, late), "at most 1"));
    assert_int_equal(stage_try_submit(w, "{\"command\": [\"fake\"], \"cpus\": 3}", &err), -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_true(stage_run_until_over(w, running, 2 * MINUTE));
    assert_state(w, running, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, running).begun, 1);
    assert_true(stage_run_until_over(w, small, 2 * MINUTE));
    assert_state(w, small, JOB_DONE);
    assert_state(w, waiting, JOB_QUEUED);
    assert_false(overcommitted(w->y));
    assert_int_equal(w->y->engine.cluster.nodes[0].cpus, UNIT);
    fake_set_node(w->fake, 0, 2 * UNIT, 8192);
    assert_true(stage_run_until_over(w, waiting, 2 * MINUTE));
    assert_state(w, waiting, JOB_DONE);
    assert_true(stage_run_until_over(w, late, 2 * MINUTE));
    assert_state(w, late, JOB_DONE);
}

static void a_node_shrinks_and_recovers(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    int64_t running = stage_submit(&w, two_cpus), waiting = stage_submit(&w, two_cpus);
    int64_t small = stage_submit(&w, one_cpu);
    stage_run(&w, SECOND);
    fake_set_node(w.fake, 0, UNIT, 8192);
    stage_run(&w, SECOND);
    expect_smaller(&w, running, waiting, small);
    stage_end(&w);
}

static void a_machine_that_looks_smaller_after_a_restart(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    int64_t running = stage_submit(&w, two_cpus), waiting = stage_submit(&w, two_cpus);
    int64_t small = stage_submit(&w, one_cpu);
    stage_run(&w, 10 * SECOND); /* its samples are on disk */
    stage_kill(&w);
    fake_set_node(w.fake, 0, UNIT, 8192);
    stage_start(&w);
    stage_run(&w, SECOND);
    expect_smaller(&w, running, waiting, small);
    stage_end(&w);
}

static void memory_that_is_gone(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    const char *json = "{\"command\": [\"fake\", \"work=60\"], \"cpus\": 1, \"memory\": \"4g\"}";
    int64_t running = stage_submit(&w, json);
    stage_run(&w, SECOND);
    stage_kill(&w);
    fake_set_node(w.fake, 0, 2 * UNIT, 2048);
    stage_start(&w);
    stage_run(&w, SECOND);
    assert_state(&w, running, JOB_RUNNING);
    assert_true(overcommitted(w.y));
    int64_t other = stage_submit(&w, one_cpu); /* it needs no memory */
    assert_true(stage_run_until_over(&w, other, 2 * MINUTE));
    assert_true(stage_run_until_over(&w, running, 2 * MINUTE));
    assert_state(&w, running, JOB_DONE);
    stage_end(&w);
}

static void a_node_is_lost_and_returns(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    int64_t running = stage_submit(&w, one_cpu);
    stage_run(&w, SECOND);
    fake_cut_node(w.fake, 0, fake_now(w.fake) + 10 * MINUTE);
    fake_lose_node(w.fake, 0, true);
    int64_t waiting = stage_submit(&w, one_cpu);
    stage_run(&w, 5 * MINUTE);
    assert_state(&w, running, JOB_RUNNING);
    assert_state(&w, waiting, JOB_QUEUED);
    assert_int_equal(stage_job(&w, waiting)->attempt, 0);
    stage_run(&w, 5 * MINUTE + SECOND);
    fake_lose_node(w.fake, 0, false);
    assert_true(stage_run_until_over(&w, waiting, 5 * MINUTE));
    assert_state(&w, running, JOB_DONE);
    assert_state(&w, waiting, JOB_DONE);
    assert_int_equal(fake_truth_of(w.fake, running).begun, 1);
    stage_end(&w);
}

static void a_node_is_removed(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    fake_add_node(w.fake, 8 * UNIT, 8192);
    int64_t large = stage_submit(&w, "{\"command\": [\"fake\", \"work=480\"], \"cpus\": 8}");
    int64_t second = stage_submit(&w, "{\"command\": [\"fake\", \"work=8\"], \"cpus\": 8}");
    stage_run(&w, SECOND);
    fake_remove_node(w.fake, 1);
    assert_true(stage_run_until_over(&w, large, 2 * MINUTE));
    assert_state(&w, large, JOB_DONE); /* what runs there may end */
    stage_run(&w, MINUTE);
    assert_state(&w, second, JOB_QUEUED);
    int64_t small = stage_submit(&w, one_cpu);
    assert_true(stage_run_until_over(&w, small, 2 * MINUTE));
    stage_kill(&w);
    stage_start(&w);
    assert_state(&w, second, JOB_QUEUED);
    assert_non_null(strstr(waits_for(&w, second), "at most 2"));
    stage_end(&w);
}

static void a_drained_node_stays_drained(void **state)
{
    struct stage w;
    struct err err;
    (void)state;
    begin(&w, "fifo");
    assert_ok(nodes_drain(w.y, 0, true, &err), err);
    fake_lose_node(w.fake, 0, true);
    fake_lose_node(w.fake, 0, false);
    fake_set_node(w.fake, 0, 4 * UNIT, 8192);
    int64_t job = stage_submit(&w, one_cpu);
    stage_run(&w, MINUTE);
    assert_state(&w, job, JOB_QUEUED);
    stage_kill(&w);
    stage_start(&w);
    stage_run(&w, MINUTE);
    assert_state(&w, job, JOB_QUEUED);
    assert_ok(nodes_drain(w.y, 0, false, &err), err);
    assert_true(stage_run_until_over(&w, job, 2 * MINUTE));
    stage_end(&w);
}

/* Whatever runs there may still run: nobody else may say that it does not. */
static void a_runtime_that_is_not_there_any_more(void **state)
{
    struct stage w;
    struct fake_options small = one_node, other = one_node;
    (void)state;
    small.cpus = UNIT;
    other.prefix = "other";
    stage_begin(&w, &small, "fifo");
    stage_add_runtime(&w, &other);
    w.remote = true;
    stage_start(&w);
    int64_t job = stage_submit(&w, "{\"command\": [\"fake\", \"work=120\"], \"cpus\": 2, "
                                   "\"lease\": \"none\"}");
    stage_run(&w, 10 * SECOND);
    assert_int_equal(fake_truth_of(w.fakes[1], job).running, 1);
    stage_kill(&w);
    w.n_fakes = 1;
    stage_start(&w);
    stage_run(&w, 10 * MINUTE);
    assert_state(&w, job, JOB_RUNNING);
    int64_t small_job = stage_submit(&w, one_cpu);
    assert_true(stage_run_until_over(&w, small_job, 2 * MINUTE));
    stage_kill(&w);
    w.n_fakes = 2;
    stage_start(&w);
    assert_true(stage_run_until_over(&w, job, 5 * MINUTE));
    assert_state(&w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w.fakes[1], job).begun, 1);
    assert_int_equal(fake_truth_of(w.fakes[0], job).begun, 0);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(a_node_joins),
    TEST(a_server_without_nodes),
    TEST(elastic_jobs_use_what_a_node_gains),
    TEST(a_node_shrinks_and_recovers),
    TEST(a_machine_that_looks_smaller_after_a_restart),
    TEST(memory_that_is_gone),
    TEST(a_node_is_lost_and_returns),
    TEST(a_node_is_removed),
    TEST(a_drained_node_stays_drained),
    TEST(a_runtime_that_is_not_there_any_more),
};

int main(void)
{
    return RUN(tests);
}
