/* Tests of growth efficiency by all resources, and of the series that the engine and the store keep
 * of it. */
#include <math.h>

#include "engine/engine.h"
#include "model/growth.h"
#include "policy/combo.h"
#include "store/events.h"
#include "store/growths.h"
#include "store/store.h"
#include "store/trim.h"
#include "support/store_dir.h"
#include "support/test.h"

#define SECOND USEC_PER_SEC

static const struct node two_cpus = {.name = "n1", .cpus = 2 * UNIT, .memory_mb = 1000};

static struct sample sample_at(int64_t second, double metric)
{
    return (struct sample){.at = second * SECOND,
                           .metric = metric,
                           .metric_at = second * SECOND,
                           .cpu_time = (double)second * (double)SECOND, /* one CPU */
                           .memory_mb = 250,
                           .block_bytes = (double)second * 10e6,
                           .net_bytes = 5};
}

/* The loss halves in 10 s on half of the CPUs, a quarter of the memory and a tenth of the disk;
 * the network is not used. */
static void test_four_resources(void **state)
{
    struct history h;
    (void)state;
    history_init(&h);
    struct sample first = sample_at(10, 4), second = sample_at(20, 2);
    history_add(&h, &first);
    assert_false(growth_take(&h, &two_cpus, 100e6)); /* no mark yet */
    h.mark = h.last;
    assert_false(growth_take(&h, &two_cpus, 100e6)); /* nothing new */
    history_add(&h, &second);
    assert_true(growth_take(&h, &two_cpus, 100e6));
    assert_true(h.growth.span == 10 * SECOND);
    assert_float_equal(h.growth.by[GROWTH_CPU], 0.05 / 0.5, 1e-12);
    assert_float_equal(h.growth.by[GROWTH_MEMORY], 0.05 / 0.25, 1e-12);
    assert_float_equal(h.growth.by[GROWTH_BLOCK], 0.05 / 0.1, 1e-12);
    assert_true(isnan(h.growth.by[GROWTH_NETWORK]));
    assert_true(h.mark.metric == 2);
    assert_false(growth_take(&h, &two_cpus, 100e6)); /* it was taken */
}

/* A job that was started again counts its CPU time from zero: the next measurement begins there. */
static void test_started_again(void **state)
{
    struct history h;
    (void)state;
    history_init(&h);
    struct sample one = sample_at(10, 4), two = sample_at(20, 2), three = sample_at(30, 1);
    two.cpu_time = 1;
    history_add(&h, &one);
    h.mark = h.last;
    history_add(&h, &two);
    assert_false(growth_take(&h, &two_cpus, 100e6));
    assert_true(h.growth.span == 0 && h.mark.metric == 2);
    history_add(&h, &three);
    assert_true(growth_take(&h, &two_cpus, 100e6));
}

static void step(struct engine *e, struct event event, usec_t now)
{
    struct err err;
    assert_ok(engine_step(e, &event, now, &err), err);
}

/* Two jobs on a node report for 100 s under the policy: how often one of them is measured. */
static unsigned measured_under(const char *policy)
{
    struct node nodes[] = {two_cpus};
    struct cluster cluster = {.nodes = nodes, .n = 1};
    struct engine_config config = {.resched_min = 0};
    struct engine e;
    struct err err;
    struct job jobs[2];
    unsigned points = 0;
    assert_ok(combo_parse(policy, &config.combo, &err), err);
    engine_init(&e, &config, &cluster);
    for (int i = 0; i < 2; i++) {
        jobs[i] = (struct job){.name = i ? "b" : "a",
                               .id = (uint32_t)i + 1,
                               .req = UNIT,
                               .target = NAN,
                               .deadline = USEC_NEVER,
                               .work = 1e12};
        assert_ok(job_normalise(&jobs[i], &err), err);
        step(&e, (struct event){.kind = EVENT_SUBMIT, .job = &jobs[i]}, 0);
    }
    for (int64_t second = 0; second <= 100; second += 5) {
        step(&e, (struct event){.kind = EVENT_TICK}, second * SECOND);
        points += (unsigned)e.measured.n;
        for (size_t i = 0; i < e.measured.n; i++)
            assert_true(e.tasks[e.measured.at[i]].history->growth.by[GROWTH_CPU] > 0);
        for (uint32_t task = 0; task < 2; task++) {
            struct sample s = sample_at(second + 1, 100 / (double)(second + 1));
            step(&e, (struct event){.kind = EVENT_SAMPLE, .task = task, .sample = &s},
                 (second + 1) * SECOND);
        }
    }
    engine_done(&e);
    return points;
}

static void test_who_measures(void **state)
{
    (void)state;
    assert_true(measured_under("flowcon:itval=10s:alpha=0%") >= 16);
    assert_true(measured_under("tradl:itval=10s") >= 16);
    assert_true(measured_under("specon:interval=10s") >= 4); /* until they have converged */
    assert_int_equal(measured_under("fifo"), 0);
}

static int count_point(void *ctx, uint32_t attempt, const struct growth_row *row, struct err *err)
{
    (void)err;
    assert_true(attempt == 3 && row->cpu == (double)row->at && isnan(row->network));
    ++*(unsigned *)ctx;
    return 0;
}

/* The series stays short, and goes when the job is trimmed. */
static void test_stored_series(void **state)
{
    struct store *s = store_dir_open(*state);
    struct job_row job = store_dir_job(1);
    int64_t id = 0, seq = 0;
    struct err err;
    unsigned n = 0;
    uint64_t removed = 0;
    job.state = JOB_DONE;
    job.ended = 10;
    assert_ok(store_dir_submit(s, &job, &id, &err), err);
    for (int64_t i = 1; i <= 5000; i++) {
        struct growth_row row = {.at = i, .span = 1, .cpu = (double)i, .network = NAN};
        assert_ok(store_growth_add(s, id, 3, &row, &err), err);
    }
    struct growth_row none = {.at = 1};
    assert_error(store_growth_add(s, 99, 1, &none, &err), err, ERR_NOT_FOUND, "no job 99");
    assert_ok(store_growth_list(s, id, count_point, &n, &err), err);
    assert_true(n > 600 && n < 2000);
    assert_ok(store_event_add(s, 1, 0, "note", "{}", &seq, &err), err);
    do
        assert_ok(store_trim(s, SECOND, &removed, &err), err);
    while (removed);
    n = 0;
    assert_ok(store_growth_list(s, id, count_point, &n, &err), err);
    assert_int_equal(n, 0);
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(test_four_resources),
    cmocka_unit_test(test_started_again),
    cmocka_unit_test(test_who_measures),
    STORE_TEST(test_stored_series),
};

int main(void)
{
    return RUN(tests);
}
