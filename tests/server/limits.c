/* What a job may use: time, memory, and the grace that it has when it must end. */
#include <string.h>

#include "policy/combo.h"
#include "server/jobs/verbs.h"
#include "store/events.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)

static void set_limit(struct stage *w, int64_t job, usec_t limit)
{
    struct err err;
    struct job_change change = {.set_time_limit = true, .time_limit = limit};
    assert_ok(verb_change(w->y, job, &change, &err), err);
}

/* ---- time ------------------------------------------------------------------------------ */

static void a_job_ends_at_its_time_limit(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'time_limit': '60s',"
                                  " 'retries': 3}");
    stage_run(w, 55 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_TIMEOUT);
    assert_int_equal(fake_truth_of(w->fake, job).begun, 1);
}

static void the_time_limit_is_of_the_job_not_of_the_attempt(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'time_limit': '60s'}");
    stage_run(w, 40 * SECOND);
    assert_ok(verb_requeue(w->y, job, false, NULL, &err), err);
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    stage_run(w, 20 * SECOND);
    assert_state(w, job, JOB_TIMEOUT);
    assert_int_equal(stage_job(w, job)->attempt, 2);
}

static void a_time_limit_can_be_extended_and_removed(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=300'], 'time_limit': '60s'}");
    stage_run(w, 50 * SECOND);
    set_limit(w, job, 2 * MINUTE);
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_RUNNING);
    set_limit(w, job, 0);
    assert_true(stage_run_until_over(w, job, HOUR));
    assert_state(w, job, JOB_DONE);
}

static void a_time_limit_can_be_set_while_a_job_runs(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=300']}");
    stage_run(w, 30 * SECOND);
    set_limit(w, job, MINUTE);
    stage_run(w, 40 * SECOND);
    assert_state(w, job, JOB_TIMEOUT);
}

/* The conductor hears of it when it is connected again. */
static void a_limit_that_is_extended_while_the_link_is_down_counts(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=100'], 'time_limit': '60s'}");
    stage_run(w, 20 * SECOND);
    fake_cut_node(w->fake, 0, fake_now(w->fake) + 20 * SECOND);
    set_limit(w, job, HOUR);
    assert_true(stage_run_until_over(w, job, 5 * MINUTE));
    assert_state(w, job, JOB_DONE);
}

static void a_limit_that_is_extended_counts_under_another_server(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=100'], 'time_limit': '60s'}");
    stage_run(w, 20 * SECOND);
    set_limit(w, job, HOUR);
    stage_kill_after(w, 0); /* it is on disk, and nobody has been told */
    stage_run(w, 10 * SECOND);
    stage_start(w);
    assert_true(stage_run_until_over(w, job, 5 * MINUTE));
    assert_state(w, job, JOB_DONE);
}

static void frozen_time_does_not_count(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=100'], 'cpus': 2,"
                                  " 'preempt': 'pause', 'time_limit': '60s'}");
    stage_run(w, 20 * SECOND);
    stage_submit(w, "{'command': ['fake', 'work=200'], 'cpus': 2, 'deadline': '1h'}");
    stage_run(w, 90 * SECOND);
    assert_int_equal(fake_cpus_in_use(w->fake, 0), 2 * UNIT);
    assert_true(stage_run_until_over(w, job, 2 * MINUTE));
    assert_state(w, job, JOB_DONE);
    assert_int_equal(stage_job(w, job)->attempt, 1);
}

/* ---- memory ---------------------------------------------------------------------------- */

static void a_job_that_uses_more_memory_than_its_limit_is_told_so(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=10', 'uses=2000'],"
                                  " 'memory': '1g'}");
    assert_true(stage_run_until_over(w, job, MINUTE));
    assert_state(w, job, JOB_FAILED);
    assert_int_equal(stage_job(w, job)->code, 137);
    assert_non_null(strstr(stage_job(w, job)->reason, "more memory than its limit"));
}

static void jobs_wait_for_memory(void **state)
{
    struct stage *w = *state;
    int64_t first = stage_submit(w, "{'command': ['fake', 'work=10'], 'memory': '5g'}");
    int64_t second = stage_submit(w, "{'command': ['fake', 'work=10'], 'memory': '5g'}");
    stage_run(w, 5 * SECOND);
    assert_state(w, first, JOB_RUNNING);
    assert_state(w, second, JOB_QUEUED);
    stage_run(w, 10 * SECOND);
    assert_state(w, second, JOB_RUNNING);
}

/* ---- grace ------------------------------------------------------------------------------- */

static int64_t start_deaf(struct stage *w)
{
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600', 'deaf'], 'grace': '30s'}");
    stage_run(w, 5 * SECOND);
    return job;
}

static void a_job_that_does_not_listen_has_its_grace(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = start_deaf(w);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, 29 * SECOND);
    assert_state(w, job, JOB_STOPPING);
    stage_run(w, 2 * SECOND);
    assert_state(w, job, JOB_CANCELLED);
    assert_int_equal(stage_job(w, job)->code, 137);
}

static void a_cancel_can_have_another_grace(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = start_deaf(w);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, 5 * SECOND);
    assert_state(w, job, JOB_STOPPING);
    assert_ok(verb_cancel(w->y, job, 0, &err), err);
    stage_run(w, SECOND);
    assert_state(w, job, JOB_CANCELLED);
}

static void the_grace_goes_on_under_another_server(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = start_deaf(w);
    assert_ok(verb_cancel(w->y, job, -1, &err), err);
    stage_run(w, 5 * SECOND);
    stage_kill(w);
    stage_start(w);
    stage_run(w, 26 * SECOND);
    assert_state(w, job, JOB_CANCELLED);
}

static void a_job_that_must_end_is_not_frozen(void **state)
{
    struct stage *w = *state;
    struct err err;
    struct combo edf;
    assert_ok(combo_parse("edf", &edf, &err), err);
    assert_ok(yard_set_policy(w->y, &edf, &err), err);
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2,"
                                  " 'preempt': 'pause', 'grace': '30s'}");
    stage_run(w, 5 * SECOND);
    fake_set_faults(w->fake, &(struct fake_faults){.delay = SECOND});
    assert_ok(verb_requeue(w->y, job, true, NULL, &err), err);
    stage_submit(w, "{'command': ['fake', 'work=600'], 'cpus': 2, 'deadline': '1h'}");
    stage_run(w, MINUTE);
    assert_state(w, job, JOB_HELD);
}

static void a_timeout_has_its_grace_too(void **state)
{
    struct stage *w = *state;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=600', 'deaf'], 'grace': '30s',"
                                  " 'time_limit': '60s'}");
    stage_run(w, 85 * SECOND);
    assert_state(w, job, JOB_RUNNING);
    stage_run(w, 10 * SECOND);
    assert_state(w, job, JOB_TIMEOUT);
}

/* ---- deadlines ------------------------------------------------------------------------- */

static int count_at_risk(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                         const char *json, struct err *err)
{
    (void)seq;
    (void)at;
    (void)job;
    (void)json;
    (void)err;
    *(unsigned *)ctx += !strcmp(kind, "job.at_risk");
    return 0;
}

static void expect_at_risk(struct stage *w, int64_t job, unsigned times)
{
    struct err err;
    unsigned n = 0;
    assert_ok(store_event_list(w->y->store, 0, job, 0, count_at_risk, &n, &err), err);
    assert_int_equal(n, times);
}

static void a_deadline_at_risk_is_announced_once(void **state)
{
    struct stage *w = *state;
    struct err err;
    int64_t job = stage_submit(w, "{'command': ['fake', 'work=6000'], 'deadline': '60s'}");
    stage_run(w, 30 * SECOND);
    expect_at_risk(w, job, 0);
    stage_run(w, 2 * MINUTE);
    expect_at_risk(w, job, 1);
    stage_kill(w);
    stage_start(w);
    stage_run(w, 2 * MINUTE);
    expect_at_risk(w, job, 1);
    struct job_change later = {.set_deadline = true,
                               .deadline = stage_job(w, job)->deadline + 10 * MINUTE};
    assert_ok(verb_change(w->y, job, &later, &err), err);
    stage_run(w, 20 * MINUTE);
    expect_at_risk(w, job, 2);
}

static const struct CMUnitTest tests[] = {
    STAGE_TEST(a_job_ends_at_its_time_limit),
    STAGE_TEST(the_time_limit_is_of_the_job_not_of_the_attempt),
    STAGE_TEST(a_time_limit_can_be_extended_and_removed),
    STAGE_TEST(a_time_limit_can_be_set_while_a_job_runs),
    STAGE_TEST(a_limit_that_is_extended_while_the_link_is_down_counts),
    STAGE_TEST(a_limit_that_is_extended_counts_under_another_server),
    STAGE_TEST(frozen_time_does_not_count),
    STAGE_TEST(a_job_that_uses_more_memory_than_its_limit_is_told_so),
    STAGE_TEST(jobs_wait_for_memory),
    STAGE_TEST(a_job_that_does_not_listen_has_its_grace),
    STAGE_TEST(a_cancel_can_have_another_grace),
    STAGE_TEST(the_grace_goes_on_under_another_server),
    STAGE_TEST(a_job_that_must_end_is_not_frozen),
    STAGE_TEST(a_timeout_has_its_grace_too),
    STAGE_TEST(a_deadline_at_risk_is_announced_once),
};

int main(void)
{
    return RUN(tests);
}
