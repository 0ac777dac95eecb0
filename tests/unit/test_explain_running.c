/* Tests of explanations of jobs that run, are preempted, or have ended. */
#include "server/explain/explain.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "support/hand_yard.h"
#include "support/test.h"

/* ---- running --------------------------------------------------------------- */

static void test_runs_elastic_with_a_neighbour(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x4c", "elastic-fifo");
    struct live_job *a = hand_offer(&f, hand_add(&f, "fixed", 2 * UNIT, 2 * UNIT));
    struct live_job *b = hand_offer(&f, hand_add(&f, "elastic", UNIT, 4 * UNIT));
    hand_decide(&f);
    hand_report(&f, a, 45);
    hand_report(&f, b, 600);
    json_t *o = hand_explain(&f, b);
    said_summary(o, "Job 2 (elastic) has been running for 10 seconds on 2 CPUs of n1.");
    said_reason(o, "size", "It has 2 CPUs and can run on 1 to 4; elastic-fifo chose this size.");
    said_reason(o, "no_room",
                "It could use 4 CPUs, but no more are free on n1: job 1 (fixed) "
                "has 2 CPUs.");
    said_reason(o, "share", "No other job uses its CPUs (share=hard).");
    said_reason(o, "end", "At this rate it ends in about 10 minutes (9 minutes to 11 minutes).");
    said_free(o, "It will grow to 4 CPUs in about 45 seconds, if job 1 (fixed) continues at 12 "
                 "steps/s.");
    said_free(o, "It would get 4 CPUs if job 1 (fixed) ended now.");
    assert_true(json_is_null(json_object_get(o, "start")));
    json_decref(o);
    o = hand_explain(&f, a);
    said_reason(o, "size", "It has 2 CPUs, as requested.");
    assert_int_equal(json_array_size(json_object_get(o, "ahead")), 0);
    json_decref(o);
    a->progress.known = false;
    a->estimate.fit.sizes = 0;
    o = hand_explain(&f, b);
    said_free(o, "It would get 4 CPUs if job 1 (fixed) ended now.");
    json_decref(o);
    hand_end(&f);
}

static void test_runs_and_shares(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x2c", "docker");
    struct live_job *a = hand_offer(&f, hand_add(&f, "a", UNIT, UNIT));
    struct live_job *b = hand_offer(&f, hand_add(&f, "b", UNIT, UNIT));
    hand_decide(&f);
    a->usage = (struct usage_seen){.known = true, .cpus = 0.25};
    b->attempt->unheard = clock_now(&f.y.clock) - 30 * USEC_PER_SEC;
    json_t *o = hand_explain(&f, a);
    said_reason(o, "share",
                "It shares CPUs with its neighbours (share=free): it may use up to 1 CPU and "
                "gets about 1 now.");
    said_reason(o, "usage", "It uses only 0.25 of its 1 CPU.");
    said_reason(o, "end", "Its end is unknown: it has not reported a step yet.");
    json_decref(o);
    a->usage.cpus = 0.001;
    o = hand_explain(&f, a);
    said_reason(o, "usage", "It is idle: it uses none of its 1 CPU.");
    json_decref(o);
    o = hand_explain(&f, b);
    said_reason(o, "silent", "Its conductor has not reported for 30 seconds.");
    json_decref(o);
    hand_end(&f);
}

/* Preempted by freezing, and by stopping. */
static void test_makes_way(void **state)
{
    struct hand_yard f;
    hand_begin(&f, state, "1x2c", "srtf");
    struct live_job *a = hand_add(&f, "long", 2 * UNIT, 2 * UNIT),
                    *b = hand_add(&f, "short", 2 * UNIT, 2 * UNIT);
    a->terms.preempt = SPEC_PREEMPT_PAUSE;
    hand_offer(&f, a);
    hand_decide(&f);
    hand_offer(&f, b);
    hand_step(&f, (struct event){.kind = EVENT_PROGRESS, .task = b->task, .work = 5e6, .done = 0});
    hand_decide(&f);
    json_t *o = hand_explain(&f, a);
    said_summary(o, "Job 1 (long) is paused: it keeps its memory and resumes when enough resources "
                    "are free.");
    said_reason(o, "holders", "Job 2 (short) has 2 CPUs.");
    json_decref(o);
    b->attempt->stop = STOP_CANCEL;
    b->attempt->grace = 30 * USEC_PER_SEC;
    b->row.state = JOB_STOPPING;
    o = hand_explain(&f, b);
    said_summary(o, "Job 2 (short) is being stopped.");
    said_reason(o, "stopping", "A user cancelled it.");
    said_free(o, "It has up to 30 seconds to save its state; then it is killed.");
    json_decref(o);
    hand_end(&f);
}

/* ---- over ------------------------------------------------------------------ */

static int64_t add_over(struct hand_yard *f, enum job_state state, int code, const char *reason)
{
    struct job_row row = store_dir_job(7);
    struct err err;
    row.name = "gone";
    row.state = state;
    row.code = code;
    row.reason = reason;
    row.ended = clock_read_wall() - 600 * USEC_PER_SEC;
    row.started = row.ended - 42 * USEC_PER_SEC;
    row.run_time = 42 * USEC_PER_SEC;
    row.wait_time = 3 * USEC_PER_SEC;
    row.attempt = 3;
    row.failures = state == JOB_FAILED ? 3 : 0;
    assert_ok(store_dir_submit(f->y.store, &row, &row.id, &err), err);
    return row.id;
}

static int64_t add_never_started(struct hand_yard *f)
{
    struct job_row row = store_dir_job(8);
    struct err err;
    row.state = JOB_CANCELLED;
    row.reason = "cancelled";
    row.started = 0;
    row.ended = clock_read_wall();
    row.wait_time = 3 * USEC_PER_SEC;
    row.attempt = 0;
    assert_ok(store_dir_submit(f->y.store, &row, &row.id, &err), err);
    return row.id;
}

static json_t *explain_gone(struct hand_yard *f, int64_t id)
{
    struct live_job j = {.row = {.id = id}};
    return hand_explain(f, &j);
}

static void test_over(void **state)
{
    struct hand_yard f;
    struct err err;
    json_t *o = NULL;
    hand_begin(&f, state, "1x2c", "fifo");
    o = explain_gone(&f, add_over(&f, JOB_DONE, 0, ""));
    said_summary(o, "Job 1 (gone) succeeded after 42 seconds, 10 minutes ago.");
    said_reason(o, "done", "Its command exited with code 0.");
    said_reason(o, "history", "It waited 3 seconds and ran 42 seconds, in 3 attempts.");
    json_decref(o);
    o = explain_gone(&f, add_over(&f, JOB_FAILED, 3, "exit code 3"));
    said_summary(o, "Job 2 (gone) failed after 42 seconds, 10 minutes ago.");
    said_reason(o, "failed", "Its command exited with code 3.");
    said_reason(o, "history",
                "It waited 3 seconds and ran 42 seconds, in 3 attempts, 3 of which failed.");
    said_free(o, "`trainyard logs 2` shows its output.");
    said_free(o, "`trainyard requeue 2` runs it again.");
    json_decref(o);
    o = explain_gone(&f, add_over(&f, JOB_FAILED, 137, ""));
    said_reason(o, "failed", "Its command was killed by signal 9.");
    json_decref(o);
    o = explain_gone(&f, add_over(&f, JOB_CANCELLED, -1, "cancelled"));
    said_reason(o, "cancelled", "A user cancelled it.");
    json_decref(o);
    o = explain_gone(&f, add_over(&f, JOB_TIMEOUT, 143, "it ran into its time limit"));
    said_summary(o, "Job 5 (gone) reached its time limit and was stopped after 42 seconds, 10 "
                    "minutes ago.");
    json_decref(o);
    o = explain_gone(&f, add_never_started(&f));
    said_reason(o, "history", "It waited 3 seconds and never ran.");
    json_decref(o);
    assert_error(explain_job(&f.y, 99, &o, &err), err, ERR_NOT_FOUND, "99");
    hand_end(&f);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_runs_elastic_with_a_neighbour),
    STORE_TEST(test_runs_and_shares),
    STORE_TEST(test_makes_way),
    STORE_TEST(test_over),
};

int main(void)
{
    return RUN(tests);
}
