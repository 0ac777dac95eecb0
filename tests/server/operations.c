/* What the server makes of operations that fail, are slow, or are not answered: what is wanted
 * comes about once they succeed, and nothing is done twice that must not be. */
#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_faults sound, unanswered = {.reply_lost = 1}, refused = {.op_fails = 1};

static void a_start_that_is_not_answered_runs_once(void **state)
{
    struct stage *w = *state;
    fake_set_faults(w->fake, &unanswered);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10']}");
    stage_run(w, 2 * MINUTE);
    fake_set_faults(w->fake, &sound);
    stage_run(w, 2 * MINUTE);
    assert_state(w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
    assert_int_equal(fake_truth_of(w->fake, job).left, 0);
}

/* Nobody knows what size it has then, so the old one must be said as well. */
static void a_resize_that_is_not_answered_is_said_again(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=6000'], 'cpus': '1-2'}");
    stage_run(w, 5 * SECOND);
    fake_set_faults(w->fake, &unanswered);
    assert_ok(verb_resize(w->y, job, UNIT, UNIT, &err), err);
    stage_run(w, 5 * SECOND);
    assert_int_equal(fake_cpus_in_use(w->fake, 0), UNIT);
    assert_ok(verb_resize(w->y, job, UNIT, 2 * UNIT, &err), err);
    fake_set_faults(w->fake, &sound);
    stage_run(w, 2 * MINUTE);
    assert_int_equal(fake_cpus_in_use(w->fake, 0), 2 * UNIT);
}

static void a_freeze_that_is_not_answered_is_undone(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2,"
                                  " 'preempt': 'pause'}");
    stage_run(w, 5 * SECOND);
    fake_set_faults(w->fake, &unanswered);
    int64_t urgent = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2,"
                                     " 'deadline': '1h'}");
    stage_run(w, 5 * SECOND);
    assert_ok(verb_cancel(w->y, urgent, 0, &err), err);
    fake_set_faults(w->fake, &sound);
    assert_true(stage_run_until_over(w, job, 20 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

/* Two minutes, in which no more CPUs are in use than there are. */
static void run_within_capacity(struct stage *w)
{
    for (int i = 0; i < 1200; i++) {
        stage_run(w, SECOND / 10);
        assert_true(fake_cpus_in_use(w->fake, 0) <= 2 * UNIT);
    }
}

static const struct fake_faults slow = {.delay = 30 * USEC_PER_SEC};

static void a_start_waits_for_a_slow_resize(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=6000'], 'cpus': '1-2'}");
    stage_run(w, 5 * SECOND);
    assert_int_equal(fake_cpus_in_use(w->fake, 0), 2 * UNIT);
    fake_set_faults(w->fake, &slow);
    int64_t other = stage_submit(w, "{'command': ['fake', 'work=6000']}");
    run_within_capacity(w);
    assert_state(w, job, JOB_RUNNING);
    assert_state(w, other, JOB_RUNNING);
}

static void a_start_waits_for_a_slow_freeze(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    stage_submit(w, "{'command': ['fake', 'work=6000'], 'cpus': 2, 'preempt': 'pause'}");
    stage_run(w, 5 * SECOND);
    fake_set_faults(w->fake, &slow);
    int64_t urgent = stage_submit(w, "{'command': ['fake', 'work=6000'], 'cpus': 2,"
                                     " 'deadline': '1h'}");
    run_within_capacity(w);
    assert_state(w, urgent, JOB_RUNNING);
}

static void what_could_not_be_cleaned_up_is_cleaned_up_later(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10']}");
    stage_run(w, 5 * SECOND);
    fake_set_faults(w->fake, &refused);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, job).left, 1);
    fake_set_faults(w->fake, &sound);
    stage_run(w, 5 * SECOND);
    assert_int_equal(fake_truth_of(w->fake, job).left, 0);
}

static void a_job_on_a_node_that_is_cut_off_runs_on(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60']}");
    stage_run(w, 10 * SECOND);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 5 * MINUTE);
    stage_run(w, 4 * MINUTE);
    assert_state(w, job, JOB_RUNNING); /* it has ended, and nobody knows */
    stage_run(w, 2 * MINUTE);
    assert_state(w, job, JOB_DONE);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
}

/* The conductor is back at once; the answer to the last operation is not. */
static void a_cancel_is_heard_as_soon_as_the_node_is_back(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600']}");
    stage_run(w, 10 * SECOND);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 10 * SECOND);
    stage_run(w, 5 * SECOND);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, 10 * SECOND);
    assert_int_equal(fake_truth_of(w->fake, job).running, 0);
    assert_state(w, job, JOB_CANCELLED);
}

/* It was said once, on a link that was lost before it arrived. */
static void a_cancel_that_was_lost_is_said_again(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=6000']}");
    stage_run(w, 10 * SECOND);
    fake_set_faults(w->fake, &(struct fake_faults){.delay = MINUTE});
    assert_ok(verb_cancel(w->y, job, 0, &err), err);
    stage_turn(w);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 1);
    fake_set_faults(w->fake, &sound);
    stage_run(w, 2 * MINUTE);
    assert_int_equal(fake_truth_of(w->fake, job).running, 0);
    assert_state(w, job, JOB_CANCELLED);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(a_start_that_is_not_answered_runs_once),
    STAGE_TEST(a_resize_that_is_not_answered_is_said_again),
    STAGE_TEST(a_freeze_that_is_not_answered_is_undone),
    STAGE_TEST(a_start_waits_for_a_slow_resize),
    STAGE_TEST(a_start_waits_for_a_slow_freeze),
    STAGE_TEST(what_could_not_be_cleaned_up_is_cleaned_up_later),
    STAGE_TEST(a_job_on_a_node_that_is_cut_off_runs_on),
    STAGE_TEST(a_cancel_is_heard_as_soon_as_the_node_is_back),
    STAGE_TEST(a_cancel_that_was_lost_is_said_again),
};

int main(void)
{
    return RUN(tests);
}
