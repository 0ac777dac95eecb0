/* When a job may run: holds, dependencies, singletons, limits of arrays. */
#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static uint32_t running(const struct stage *w)
{
    return fake_truth_of_all(w->fake).running;
}

static void restart(struct stage *w)
{
    stage_kill(w);
    stage_start(w);
}

/* ---- holds -------------------------------------------------------------------------- */

static void a_held_job_waits_until_it_is_released(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=5'], 'hold': true}");
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_HELD);
    restart(w);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_HELD);
    assert_ok(verb_release(w->y, job, &err), err);
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_DONE);
}

static void a_job_that_runs_is_not_held(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60']}");
    stage_run(w, 5 * SECOND);
    assert_error(verb_hold(w->y, job, &err), err, ERR_CONFLICT, "requeue --hold");
    assert_error(verb_release(w->y, job, &err), err, ERR_CONFLICT, "not held");
    assert_state(w, job, JOB_RUNNING);
}

static void requeue_with_hold_stops_it_and_holds_it(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60']}");
    stage_run(w, 5 * SECOND);
    assert_ok(verb_requeue(w->y, job, true, NULL, &err), err);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_HELD);
    assert_int_equal(running(w), 0);
    assert_ok(verb_release(w->y, job, &err), err);
    assert_true(stage_run_until_over(w, job, 2 * MINUTE));
    assert_int_equal(stage_job(w, job)->attempt, 2);
}

static void a_hold_of_a_job_that_still_runs_survives_a_kill(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60', 'deaf'], 'grace': '20s'}");
    stage_run(w, 5 * SECOND);
    assert_ok(verb_requeue(w->y, job, true, NULL, &err), err);
    stage_run(w, SECOND);
    assert_state(w, job, JOB_STOPPING);
    restart(w);
    stage_run(w, 30 * SECOND);
    assert_state(w, job, JOB_HELD);
    assert_int_equal(running(w), 0);
}

static void a_hold_of_a_frozen_job_survives_a_kill(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 2,"
                                  " 'preempt': 'pause'}");
    stage_run(w, 5 * SECOND);
    stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 2, 'deadline': '1h'}");
    stage_run(w, 5 * SECOND);
    assert_ok(verb_hold(w->y, job, &err), err);
    stage_turn(w);
    restart(w);
    stage_run(w, 10 * MINUTE);
    assert_false(job_state_over(stage_state(w, job)));
    assert_ok(verb_release(w->y, job, &err), err);
    assert_true(stage_run_until_over(w, job, 2 * MINUTE));
    assert_state(w, job, JOB_DONE);
}

/* ---- dependencies -------------------------------------------------------------------- */

/* A job that ends with this code after 10 s, and another that waits for it so. */
static int64_t submit_pair(struct stage *w, int code, const char *kind)
{
    char text[160];
    snprintf(text, sizeof text, "{'command': ['fake', 'work=10', 'code=%d']}", code);
    int64_t first = stage_submit(w, text);
    snprintf(text, sizeof text, "{'command': ['fake', 'work=10'], 'after': ['%s:%lld']}", kind,
             (long long)first);
    return stage_submit(w, text);
}

static void each_kind_of_dependency_is_kept(void **state)
{
    static const struct {
        const char *kind;
        int code;
        enum job_state early, late; /* while the other one runs; when it has ended */
    } cases[] = {
        {"after", 0, JOB_RUNNING, JOB_RUNNING},     {"afterok", 0, JOB_QUEUED, JOB_RUNNING},
        {"afterok", 1, JOB_QUEUED, JOB_CANCELLED},  {"afternotok", 0, JOB_QUEUED, JOB_CANCELLED},
        {"afternotok", 1, JOB_QUEUED, JOB_RUNNING}, {"afterany", 0, JOB_QUEUED, JOB_RUNNING},
        {"afterany", 1, JOB_QUEUED, JOB_RUNNING},
    };
    struct stage *w = *state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t job = submit_pair(w, cases[i].code, cases[i].kind);
        stage_run(w, 5 * SECOND);
        assert_state(w, job, cases[i].early);
        restart(w);
        stage_run(w, 6 * SECOND);
        assert_state(w, job,
                     cases[i].late == JOB_RUNNING && cases[i].early == JOB_RUNNING ? JOB_DONE
                                                                                   : cases[i].late);
        stage_run(w, MINUTE);
    }
}

static void a_job_whose_dependency_failed_says_so(void **state)
{
    struct stage *w = *state;
    int64_t job = submit_pair(w, 1, "afterok");
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_string_equal(stage_job(w, job)->reason, "afterok:1 can never be met: job 1 is failed");
}

static void a_job_queued_again_waits_for_what_may_still_come(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = submit_pair(w, 0, "afterok");
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, SECOND);
    assert_ok(verb_requeue(w->y, job, false, NULL, &err), err);
    stage_run(w, 5 * SECOND);
    assert_state(w, job, JOB_QUEUED);
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_RUNNING);
}

static void a_job_queued_again_does_not_wait_for_what_cannot_come(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = submit_pair(w, 1, "afterok");
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_ok(verb_requeue(w->y, job, true, NULL, &err), err);
    stage_turn(w);
    restart(w);
    assert_ok(verb_release(w->y, job, &err), err);
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_DONE);
}

/* ---- singletons and arrays ------------------------------------------------------------ */

static void singletons_run_one_by_one(void **state)
{
    struct stage *w = *state;
    for (int i = 0; i < 3; i++)
        stage_submit(w, "{'command': ['fake', 'work=10'], 'name': 'nightly',"
                        " 'after': ['singleton']}");
    int64_t other = stage_submit(w, "{'command': ['fake', 'work=10'], 'name': 'other',"
                                    " 'after': ['singleton']}");
    stage_run(w, 5 * SECOND);
    assert_state(w, 1, JOB_RUNNING);
    assert_state(w, 2, JOB_QUEUED);
    assert_state(w, other, JOB_RUNNING);
    restart(w);
    stage_run(w, 10 * SECOND);
    assert_state(w, 1, JOB_DONE);
    assert_state(w, 2, JOB_RUNNING);
    assert_state(w, 3, JOB_QUEUED);
    assert_true(stage_run_until_over(w, 3, MINUTE));
}

static void the_limit_of_an_array_is_kept(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=10'], 'cpus': 0.25, 'array': '1-5%2'}");
    for (int i = 0; i < 40; i++) {
        stage_run(w, 4 * SECOND);
        assert_true(running(w) <= 2);
    }
    stage_run(w, 2 * MINUTE);
    assert_state(w, 5, JOB_DONE);
}

static void the_limit_of_an_array_counts_those_that_run_on(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 0.25, 'array': '1-5%2'}");
    stage_run(w, 5 * SECOND);
    restart(w);
    stage_run(w, 5 * SECOND);
    assert_int_equal(running(w), 2);
}

/* Those that failed wait for the others then; a new server must not take them for members
 * that are in. */
static void the_limit_of_an_array_counts_those_that_failed_before(void **state)
{
    struct stage *w = *state;
    stage_submit(w, "{'command': ['fake', 'work=5', 'code=1'], 'cpus': 0.25, 'array': '1-6%2',"
                    " 'retries': 3, 'backoff': '1s'}");
    for (int i = 0; i < 30; i++) {
        stage_run(w, 7 * SECOND);
        restart(w);
        stage_run(w, SECOND);
        assert_true(running(w) <= 2);
    }
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(a_held_job_waits_until_it_is_released),
    STAGE_TEST(a_job_that_runs_is_not_held),
    STAGE_TEST(requeue_with_hold_stops_it_and_holds_it),
    STAGE_TEST(a_hold_of_a_job_that_still_runs_survives_a_kill),
    STAGE_TEST(a_hold_of_a_frozen_job_survives_a_kill),
    STAGE_TEST(each_kind_of_dependency_is_kept),
    STAGE_TEST(a_job_whose_dependency_failed_says_so),
    STAGE_TEST(a_job_queued_again_waits_for_what_may_still_come),
    STAGE_TEST(a_job_queued_again_does_not_wait_for_what_cannot_come),
    STAGE_TEST(singletons_run_one_by_one),
    STAGE_TEST(the_limit_of_an_array_is_kept),
    STAGE_TEST(the_limit_of_an_array_counts_those_that_run_on),
    STAGE_TEST(the_limit_of_an_array_counts_those_that_failed_before),
};

int main(void)
{
    return RUN(tests);
}
