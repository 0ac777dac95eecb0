/* Probes: when a job is run on another size to learn how it scales, what follows from it, and what
 * it may cost. */
#include "server/jobs/probe.h"

#include <jansson.h>
#include <string.h>

#include "store/events.h"
#include "store/job_state.h"
#include "support/stage.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC
#define MINUTE (60 * SECOND)

static const struct fake_options node_of_4 = {
    .seed = 1, .nodes = 1, .cpus = 4 * UNIT, .memory_mb = 8192, .report = USEC_PER_SEC};

/* The probes of a job as events tell them: "4>2 2.00" for each, without a gain "4>2 -". */
struct told {
    char text[256];
    double longest; /* seconds that one was allowed */
};

static int see_event(void *ctx, int64_t seq, usec_t at, int64_t job, const char *kind,
                     const char *json, struct err *err)
{
    struct told *t = ctx;
    json_auto_t *e = json_loads(json, 0, NULL);
    size_t n = strlen(t->text);
    (void)seq;
    (void)at;
    (void)job;
    (void)err;
    if (!strcmp(kind, "job.probe")) {
        assert_non_null(json_string_value(json_object_get(e, "why")));
        double most = json_number_value(json_object_get(e, "at_most_s"));
        t->longest = most > t->longest ? most : t->longest;
    }
    if (strcmp(kind, "job.probed") != 0)
        return 0;
    const json_t *speed = json_object_get(e, "speed");
    n += (size_t)snprintf(t->text + n, sizeof t->text - n, "%s%g>%g ", n ? "; " : "",
                          json_number_value(json_object_get(e, "from")),
                          json_number_value(json_object_get(e, "cpus")));
    if (json_is_number(speed))
        snprintf(t->text + n, sizeof t->text - n, "%.1f", json_number_value(speed));
    else
        snprintf(t->text + n, sizeof t->text - n, "-");
    return 0;
}

static struct told told_of(struct stage *w, int64_t job)
{
    struct told t = {.text = ""};
    struct err err;
    assert_ok(store_event_list(w->y->store, 0, job, 0, see_event, &t, &err), err);
    return t;
}

static units_t cpus_of(struct stage *w, int64_t job)
{
    return yard_live(w->y, job)->attempt->cpus;
}

static double speed_on(struct stage *w, int64_t job, units_t units)
{
    const struct task *t = yard_task(w->y, yard_live(w->y, job));
    return speed_at(job_speed(t->job, POOL_CPU), units);
}

static void begin(struct stage *w, const char *policy)
{
    stage_begin(w, &node_of_4, policy);
    stage_start(w);
}

/* A deadline, and nothing is known: three sizes within a minute. */
static void a_tight_deadline_tries_three_sizes(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "deadline");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=2000', 'steps=20000', 'serial=0.5'],"
                                   " 'deadline': '40m'}");
    stage_run(&w, MINUTE);
    assert_string_equal(told_of(&w, job).text, "4>2 0.8; 4>1 0.6");
    assert_int_equal(yard_live(w.y, job)->estimate.fit.sizes, 3);
    assert_near(speed_on(&w, job, 4 * UNIT), 1.6, 0.1);
    /* That is all, and it takes what it can use again. */
    stage_run(&w, 10 * MINUTE);
    assert_int_equal(yard_live(w.y, job)->probe.made, 2);
    assert_int_equal(cpus_of(&w, job), 4 * UNIT);
    assert_true(told_of(&w, job).longest <= 60);
    assert_true(stage_run_until_over(&w, job, 60 * MINUTE));
    stage_end(&w);
}

/* Without a deadline there is one, after a minute. A job that is no faster then gives back what
 * does not help, and is asked again after half an hour. */
static void a_job_that_does_not_scale_gives_back(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "elastic-fifo");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=20000', 'steps=200000', 'serial=1'],"
                                   " 'cpus': '1-4'}");
    stage_run(&w, 50 * SECOND);
    assert_int_equal(yard_live(w.y, job)->probe.made, 0);
    assert_int_equal(cpus_of(&w, job), 4 * UNIT);
    stage_run(&w, MINUTE);
    assert_string_equal(told_of(&w, job).text, "4>2 1.0; 2>1 1.0");
    assert_int_equal(cpus_of(&w, job), UNIT);
    stage_run(&w, 35 * MINUTE);
    assert_string_equal(told_of(&w, job).text, "4>2 1.0; 2>1 1.0; 1>2 1.0");
    assert_int_equal(cpus_of(&w, job), UNIT);
    stage_end(&w);
}

static void what_forbids_a_probe(void **state)
{
    static const char *const requests[] = {
        /* it was told not to */
        "{'command': ['fake', 'work=2000', 'steps=20000'], 'cpus': '1-4', 'no_probe': true}",
        /* one size */
        "{'command': ['fake', 'work=2000', 'steps=20000'], 'cpus': '4'}",
        /* it would have to be restarted */
        "{'command': ['fake', 'work=2000', 'steps=20000'], 'cpus': '1-4', 'resize': 'restart'}",
        /* it tells no steps */
        "{'command': ['fake', 'work=2000'], 'cpus': '1-4'}",
        /* its end is near: a twentieth of what is left is no time to measure */
        "{'command': ['fake', 'work=400', 'steps=20000'], 'cpus': '1-4'}",
        /* there is no time to lose */
        "{'command': ['fake', 'work=2000', 'steps=20000'], 'cpus': '1-4', 'deadline': '502s'}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(requests); i++) {
        struct stage w;
        begin(&w, "elastic-fifo");
        int64_t job = stage_submit(&w, requests[i]);
        stage_run(&w, 5 * MINUTE);
        assert_string_equal(told_of(&w, job).text, "");
        stage_end(&w);
    }
}

/* Under a policy that does not look at speeds, nothing would come of it. */
static void fifo_does_not_probe(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "fifo");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=9000', 'steps=20000'],"
                                   " 'cpus': '1-4'}");
    stage_run(&w, 10 * MINUTE);
    assert_string_equal(told_of(&w, job).text, "");
    stage_end(&w);
}

/* Others would be given what it frees. */
static void none_while_a_job_waits(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "elastic-fifo");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=9000', 'steps=20000'],"
                                   " 'cpus': '2-4'}");
    stage_submit(&w, "{'command': ['fake', 'work=900'], 'cpus': '4'}");
    stage_run(&w, 5 * MINUTE);
    assert_string_equal(told_of(&w, job).text, "");
    stage_end(&w);
}

/* A server that restarts does not remember a probe, and the job has its size back. */
static void a_probe_ends_with_its_server(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "elastic-fifo");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=20000', 'steps=20000'],"
                                   " 'cpus': '1-4'}");
    for (int i = 0; i < 120 && !yard_live(w.y, job)->probe.units; i++)
        stage_run(&w, SECOND);
    assert_int_equal(yard_live(w.y, job)->probe.units, 2 * UNIT);
    stage_run(&w, SECOND);
    assert_int_equal(cpus_of(&w, job), 2 * UNIT);
    stage_kill(&w);
    stage_start(&w);
    stage_run(&w, 30 * SECOND);
    assert_string_equal(told_of(&w, job).text, "4>2 0.5"); /* the next server made it again */
    assert_int_equal(yard_live(w.y, job)->probe.units, 0);
    assert_int_equal(cpus_of(&w, job), 4 * UNIT);
    stage_end(&w);
}

/* Another job arrives, and gets its part at once. */
static void a_probe_holds_up_nobody(void **state)
{
    struct stage w;
    (void)state;
    begin(&w, "elastic-fifo");
    int64_t job = stage_submit(&w, "{'command': ['fake', 'work=20000', 'steps=200000', 'serial=1'],"
                                   " 'cpus': '1-4'}");
    stage_run(&w, 5 * MINUTE);
    for (int i = 0; i < 3600 && !yard_live(w.y, job)->probe.grows; i++)
        stage_run(&w, SECOND);
    assert_int_equal(yard_live(w.y, job)->probe.units, 2 * UNIT);
    int64_t other = stage_submit(&w, "{'command': ['fake', 'work=900'], 'cpus': '3'}");
    stage_run(&w, SECOND);
    assert_state(&w, other, JOB_RUNNING);
    stage_end(&w);
}

static const struct CMUnitTest tests[] = {
    TEST(a_tight_deadline_tries_three_sizes),
    TEST(a_job_that_does_not_scale_gives_back),
    TEST(what_forbids_a_probe),
    TEST(fifo_does_not_probe),
    TEST(none_while_a_job_waits),
    TEST(a_probe_ends_with_its_server),
    TEST(a_probe_holds_up_nobody),
};

int main(void)
{
    return RUN(tests);
}
