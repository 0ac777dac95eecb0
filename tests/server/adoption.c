/* What a server makes of what the one before has left: killed at any moment, on a machine
 * that was restarted, with answers that never came. */
#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

/* Operations and messages after which a server can be killed: more than any turn below has. */
enum { ACTIONS = 6 };

static void begin(struct stage *w)
{
    static const struct fake_options node = {
        .seed = 1, .nodes = 1, .cpus = 2 * UNIT, .memory_mb = 8192, .report = 10 * SECOND};
    stage_begin(w, &node, "elastic-fifo");
    stage_start(w);
}

/* ---- killed at each step --------------------------------------------------------------- */

static void killed_at_each_step_of_a_stop(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < ACTIONS; actions++) {
        struct stage w;
        struct err err;
        begin(&w);
        int64_t job = stage_submit(&w, "{'command': ['fake', 'work=600']}");
        stage_run(&w, 10 * SECOND);
        assert_ok(verb_cancel(w.y, job, -1, &err), err);
        stage_kill_after(&w, actions);
        stage_run(&w, 10 * SECOND);
        stage_start(&w);
        assert_true(stage_run_until_over(&w, job, MINUTE));
        assert_state(&w, job, JOB_CANCELLED);
        stage_run(&w, SECOND);
        assert_int_equal(fake_truth_of(w.fake, job).left, 0);
        stage_end(&w);
    }
}

static void killed_at_each_step_of_a_resize(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < ACTIONS; actions++) {
        struct stage w;
        struct err err;
        begin(&w);
        int64_t job = stage_submit(&w, "{'command': ['fake', 'work=600'], 'cpus': '1-2'}");
        stage_run(&w, 10 * SECOND);
        assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
        assert_ok(verb_resize(w.y, job, UNIT, UNIT, &err), err);
        stage_kill_after(&w, actions);
        stage_run(&w, 10 * SECOND);
        stage_start(&w);
        stage_run(&w, 10 * SECOND);
        assert_int_equal(fake_cpus_in_use(w.fake, 0), UNIT);
        assert_state(&w, job, JOB_RUNNING);
        stage_end(&w);
    }
}

static void killed_at_each_step_of_a_pause(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < ACTIONS; actions++) {
        struct stage w;
        struct err err;
        struct combo edf;
        begin(&w);
        assert_ok(combo_parse("edf", &edf, &err), err);
        assert_ok(yard_set_policy(w.y, &edf, &err), err);
        int64_t job = stage_submit(&w, "{'command': ['fake', 'work=60'], 'cpus': 2,"
                                       " 'preempt': 'pause'}");
        stage_run(&w, 10 * SECOND);
        fake_mute_after(w.fake, actions);
        int64_t urgent = stage_submit(&w, "{'command': ['fake', 'work=60'], 'cpus': 2,"
                                          " 'deadline': '1h'}");
        stage_kill(&w);
        fake_mute_after(w.fake, UINT32_MAX);
        stage_run(&w, 10 * SECOND);
        stage_start(&w);
        stage_run(&w, 5 * SECOND);
        assert_int_equal(fake_cpus_in_use(w.fake, 0), 2 * UNIT);
        assert_true(stage_run_until_over(&w, urgent, 5 * MINUTE));
        assert_true(stage_run_until_over(&w, job, 5 * MINUTE));
        assert_state(&w, job, JOB_DONE);
        assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
        stage_end(&w);
    }
}

/* The end is recorded, and nothing is cleaned up yet. */
static void killed_at_each_step_of_an_end(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < ACTIONS; actions++) {
        struct stage w;
        begin(&w);
        int64_t job = stage_submit(&w, "{'command': ['fake', 'work=10']}");
        stage_run(&w, 9 * SECOND);
        fake_mute_after(w.fake, actions);
        stage_run(&w, 2 * SECOND);
        assert_state(&w, job, JOB_DONE);
        stage_kill(&w);
        fake_mute_after(w.fake, UINT32_MAX);
        stage_start(&w);
        stage_run(&w, 10 * SECOND);
        assert_state(&w, job, JOB_DONE);
        assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
        assert_int_equal(fake_truth_of(w.fake, job).left, 0);
        stage_end(&w);
    }
}

static void killed_at_each_step_of_its_own_start(void **state)
{
    (void)state;
    for (uint32_t actions = 0; actions < ACTIONS; actions++) {
        struct stage w;
        begin(&w);
        int64_t job = stage_submit(&w, "{'command': ['fake', 'work=60'], 'cpus': '1-2'}");
        stage_run(&w, 10 * SECOND);
        stage_kill(&w);
        fake_mute_after(w.fake, actions);
        stage_start(&w);
        stage_kill(&w);
        fake_mute_after(w.fake, UINT32_MAX);
        stage_start(&w);
        assert_state(&w, job, JOB_RUNNING);
        assert_true(stage_run_until_over(&w, job, MINUTE));
        assert_state(&w, job, JOB_DONE);
        assert_int_equal(fake_truth_of(w.fake, job).begun, 1);
        stage_end(&w);
    }
}

/* ---- what it finds ------------------------------------------------------------------------ */

static void a_start_that_arrives_late_runs_nothing(void **state)
{
    struct stage *w = *state;
    fake_set_faults(w->fake, &(struct fake_faults){.delay = 30 * SECOND});
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10']}");
    stage_kill(w); /* the start is on its way */
    fake_set_faults(w->fake, &(struct fake_faults){0});
    stage_start(w);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 2);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
}

static void a_frozen_job_stays_frozen(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60'], 'cpus': 2,"
                                  " 'preempt': 'pause'}");
    stage_run(w, 10 * SECOND);
    stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2, 'deadline': '1h'}");
    stage_run(w, 10 * SECOND);
    stage_kill(w);
    stage_start(w);
    stage_run(w, 2 * MINUTE);
    assert_int_equal(fake_cpus_in_use(w->fake, 0), 2 * UNIT);
    assert_false(job_state_over(stage_state(w, job)));
    assert_true(stage_run_until_over(w, job, HOUR));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

static void the_time_that_it_ran_is_known(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600']}");
    stage_run(w, MINUTE);
    stage_kill(w);
    stage_run(w, MINUTE);
    stage_start(w);
    assert_true(stage_run_until_over(w, job, HOUR));
    assert_in_range(stage_job(w, job)->run_time, 599 * SECOND, 601 * SECOND);
}

/* ---- the machine is restarted --------------------------------------------------------------- */

static void a_restart_of_the_machine_ends_what_ran(void **state)
{
    struct stage *w = *state;
    int64_t once = stage_submit(w, "{'command': ['fake', 'work=60']}");
    int64_t again = stage_submit(w, "{'command': ['fake', 'work=60'], 'requeue': true}");
    stage_run(w, 10 * SECOND);
    stage_reboot(w);
    stage_run(w, 10 * SECOND);
    stage_start(w);
    stage_run(w, 5 * SECOND);
    assert_state(w, once, JOB_FAILED);
    assert_string_equal(stage_job(w, once)->reason, "the machine was restarted");
    assert_state(w, again, JOB_RUNNING);
    assert_true(stage_run_until_over(w, again, 2 * MINUTE));
    assert_state(w, again, JOB_DONE);
}

static void what_ended_before_the_restart_has_ended(void **state)
{
    struct stage *w = *state;
    int64_t good = stage_submit(w, "{'command': ['fake', 'work=20']}");
    int64_t bad = stage_submit(w, "{'command': ['fake', 'work=20', 'code=3']}");
    stage_run(w, 10 * SECOND);
    stage_kill(w);
    stage_run(w, 20 * SECOND);
    stage_reboot(w);
    stage_run(w, 10 * SECOND);
    stage_start(w);
    stage_run(w, 5 * SECOND);
    assert_state(w, good, JOB_DONE);
    assert_state(w, bad, JOB_FAILED);
    assert_int_equal(stage_job(w, bad)->code, 3);
}

/* Its deadline was met, whenever the next server heard of that. */
static void what_ended_without_a_server_ended_then(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=60'], 'deadline': '5m'}");
    stage_run(w, 10 * SECOND);
    stage_kill(w);
    stage_run(w, 60 * MINUTE);
    stage_start(w);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_DONE);
    usec_t ended = stage_job(w, job)->ended;
    assert_int_equal(ended, stage_attempt(w, job, 1)->ended);
    assert_true(ended < stage_job(w, job)->deadline);
}

static void time_before_the_restart_of_the_machine_is_not_counted_twice(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=100', 'saves', 'steps=10'],"
                                  " 'requeue': true}");
    stage_run(w, 30 * SECOND);
    stage_reboot(w);
    stage_run(w, HOUR);
    stage_start(w);
    assert_true(stage_run_until_over(w, job, 10 * MINUTE));
    assert_in_range(stage_job(w, job)->run_time, 100 * SECOND, 140 * SECOND);
}

static const struct CMUnitTest tests[] = {
    TEST(killed_at_each_step_of_a_stop),
    TEST(killed_at_each_step_of_a_resize),
    TEST(killed_at_each_step_of_a_pause),
    TEST(killed_at_each_step_of_an_end),
    TEST(killed_at_each_step_of_its_own_start),
    STAGE_TEST(a_start_that_arrives_late_runs_nothing),
    STAGE_TEST(a_frozen_job_stays_frozen),
    STAGE_TEST(the_time_that_it_ran_is_known),
    STAGE_TEST(a_restart_of_the_machine_ends_what_ran),
    STAGE_TEST(what_ended_before_the_restart_has_ended),
    STAGE_TEST(what_ended_without_a_server_ended_then),
    STAGE_TEST(time_before_the_restart_of_the_machine_is_not_counted_twice),
};

int main(void)
{
    return RUN(tests);
}
