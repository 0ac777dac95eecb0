/* Tests of model/history: what is kept of many samples. */
#include "model/history.h"

#include "support/test.h"

static void add(struct history *h, usec_t at, double metric)
{
    history_add(h, &(struct sample){.at = at, .metric = metric});
}

static void test_empty(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    assert_null(history_before(&h, USEC_NEVER));
    assert_true(isnan(h.first.metric));
    assert_true(isnan(h.last.metric));
}

static void test_few(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    for (int i = 0; i < 10; i++)
        add(&h, i * 10, 10 - i);
    assert_int_equal(h.n, 10);
    assert_null(history_before(&h, -1));
    assert_int_equal(history_before(&h, 0)->at, 0);
    assert_int_equal(history_before(&h, 35)->at, 30);
    assert_int_equal(history_before(&h, 90)->at, 90);
    assert_int_equal(history_before(&h, USEC_NEVER)->at, 90);
    assert_near(h.first.metric, 10, 0);
    assert_near(h.last.metric, 1, 0);
}

static void test_first_metric_is_the_first_that_is_one(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    add(&h, 0, NAN);
    add(&h, 1, NAN);
    assert_true(isnan(h.first.metric));
    add(&h, 2, 5);
    add(&h, 3, 4);
    assert_near(h.first.metric, 5, 0);
}

static void test_back_in_time_is_dropped(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    add(&h, 100, 1);
    add(&h, 99, 2);
    assert_int_equal(h.n, 1);
    assert_near(h.last.metric, 1, 0);
    add(&h, 100, 3); /* the same time is not back */
    assert_near(h.last.metric, 3, 0);
    assert_near(history_before(&h, 100)->metric, 3, 0);
}

/* A week of samples: the array stays within its size, in order, evenly spaced,
 * and always with the first and the newest. */
static void test_thinning(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    for (int i = 0; i < 100000; i++) {
        add(&h, i, i);
        assert_true(h.n <= HISTORY_CAP);
        assert_int_equal(h.at[0].at, 0);
        assert_int_equal(history_before(&h, i)->at, i);
        assert_int_equal(h.last.at, i);
    }
    assert_true(h.n > HISTORY_CAP / 2);
    for (uint32_t i = 1; i < h.n; i++)
        assert_int_equal(h.at[i].at - h.at[i - 1].at, h.stride);
    for (int i = 0; i < 100000; i += 777) {
        const struct sample *s = history_before(&h, i);
        assert_true(s->at <= i && i - s->at < (usec_t)h.stride);
    }
}

static void test_cpus_used(void **state)
{
    (void)state;
    struct history h;
    history_init(&h);
    assert_true(isnan(history_cpus(&h, 10)));
    history_add(&h, &(struct sample){.at = 100, .metric = NAN, .cpu_time = 50});
    assert_true(isnan(history_cpus(&h, 10))); /* one sample has no length */
    history_add(&h, &(struct sample){.at = 104, .metric = NAN, .cpu_time = 58});
    assert_near(history_cpus(&h, 10), 2, 1e-12); /* since the first one */
    history_add(&h, &(struct sample){.at = 112, .metric = NAN, .cpu_time = 58});
    history_add(&h, &(struct sample){.at = 116, .metric = NAN, .cpu_time = 70});
    assert_near(history_cpus(&h, 10), 1, 1e-12); /* from 104 on, the last one before 106 */
    assert_near(history_cpus(&h, 4), 3, 1e-12);
    history_add(&h, &(struct sample){.at = 120, .metric = NAN, .cpu_time = 1});
    assert_true(isnan(history_cpus(&h, 4))); /* another attempt */
}

static const struct CMUnitTest tests[] = {
    TEST(test_empty),
    TEST(test_few),
    TEST(test_first_metric_is_the_first_that_is_one),
    TEST(test_back_in_time_is_dropped),
    TEST(test_thinning),
    TEST(test_cpus_used),
};

int main(void)
{
    return RUN(tests);
}
