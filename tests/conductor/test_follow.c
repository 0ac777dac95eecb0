/* What is told of a job's progress: the members that are known, the one number by which
 * it is judged, and names that are not texts. */
#include "conductor/follow.h"

#include <math.h>

#include "support/test.h"

static struct progress_message report(const char *output)
{
    struct progress_reader *r;
    struct progress_message m;
    struct err e;
    assert_ok(progress_create(&(struct progress_config){0}, &r, &e), e);
    progress_feed(r, output, strlen(output));
    follow_report(progress_now(r), &m);
    progress_free(r);
    return m;
}

static void what_is_known(void **state)
{
    (void)state;
    struct progress_message m = report("step 3/9 loss 0.5 acc 0.25\n");
    assert_int_equal(m.report.step, 3);
    assert_int_equal(m.report.total, 9);
    assert_int_equal(m.report.epochs, -1);
    assert_true(isnan(m.report.epoch) && isnan(m.report.rate));
    assert_near(m.report.loss, 0.5, 0);
    assert_int_equal(m.metrics.n, 1);
    assert_string_equal(m.metrics.at[0].name, "acc");
    assert_string_equal(m.report.source, "text");
    assert_false(m.weak || m.diverged);
    assert_true(report("step 3/9 loss nan\n").diverged);
}

static void what_is_judged(void **state)
{
    (void)state;
    struct progress_report r = report("step 1/9 loss 0.5 acc 0.25\n").report;
    assert_string_equal(r.metric, "loss");
    assert_near(r.value, 0.5, 0);
    r = report("step 1/9 loss nan\n").report;
    assert_string_equal(r.metric, "loss");
    assert_true(isnan(r.value));
    r = report("step 1/9 acc 0.25\n").report;
    assert_string_equal(r.metric, "acc");
    assert_near(r.value, 0.25, 0);
    r = report("step 1/9\n").report;
    assert_string_equal(r.metric, "");
}

/* A name is cut where it is not a text, and then may be that of another. */
static void bad_names(void **state)
{
    (void)state;
    struct progress p = {.n_metrics = 4,
                         .metric = {{"ac\xff", 1},
                                    {"\xff", 2},
                                    {"acc", 3},
                                    {"ac\xfe"
                                     "x",
                                     4}}};
    struct progress_message m;
    follow_report(&p, &m);
    assert_int_equal(m.metrics.n, 2);
    assert_string_equal(m.metrics.at[0].name, "ac");
    assert_near(m.metrics.at[0].value, 1, 0);
    assert_string_equal(m.metrics.at[1].name, "acc");
}

static const struct CMUnitTest tests[] = {
    TEST(what_is_known),
    TEST(what_is_judged),
    TEST(bad_names),
};

int main(void)
{
    return RUN(tests);
}
