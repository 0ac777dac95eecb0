/* Tests of model/job: what is filled in, and every field that is refused. */
#include "model/job.h"

#include "support/test.h"

static const struct speed linear = {.concave = true};

static void test_defaults(void **state)
{
    (void)state;
    struct err err;
    struct job j = {.work = 1e6};
    assert_ok(job_normalise(&j, &err), err);
    assert_int_equal(j.req, UNIT);
    assert_int_equal(j.min, UNIT);
    assert_int_equal(j.max, UNIT);
    assert_int_equal(j.kind, JOB_RIGID);
    assert_near(j.weight, 1, 0);
    assert_true(j.deadline == USEC_NEVER);
    assert_near(speed_at(job_speed(&j, POOL_CPU), 3 * UNIT), 3, 0);
    assert_near(speed_at(job_speed(&j, POOL_GPU + 5), 2 * UNIT), 2, 0);
}

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        enum job_kind kind;
        units_t req, min, max; /* given, in units */
        enum job_kind want_kind;
        units_t want_req, want_min, want_max;
    } rows[] = {
        {JOB_MALLEABLE, 2, 1, 4, JOB_MALLEABLE, 2, 1, 4},
        {JOB_MOLDABLE, 0, 2, 8, JOB_MOLDABLE, 2, 2, 8},
        {JOB_MALLEABLE, 4, 0, 8, JOB_MALLEABLE, 4, 4, 8},
        {JOB_MALLEABLE, 4, 1, 0, JOB_MALLEABLE, 4, 1, 4},
        {JOB_MALLEABLE, 4, 4, 4, JOB_RIGID, 4, 4, 4},
        {JOB_RIGID, 4, 1, 8, JOB_RIGID, 4, 4, 4},
        {JOB_RIGID, 4, 0, 0, JOB_RIGID, 4, 4, 4},
        {JOB_MALLEABLE, 0, 3, 0, JOB_RIGID, 3, 3, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct err err;
        struct job j = {.kind = rows[i].kind,
                        .req = rows[i].req * UNIT,
                        .min = rows[i].min * UNIT,
                        .max = rows[i].max * UNIT};
        assert_ok(job_normalise(&j, &err), err);
        assert_int_equal(j.kind, rows[i].want_kind);
        assert_int_equal(j.req, rows[i].want_req * UNIT);
        assert_int_equal(j.min, rows[i].want_min * UNIT);
        assert_int_equal(j.max, rows[i].want_max * UNIT);
    }
}

static void refused(struct job j, const char *words)
{
    struct err err;
    assert_error(job_normalise(&j, &err), err, ERR_INVALID, words);
}

static void test_units_refused(void **state)
{
    (void)state;
    refused((struct job){.req = -1}, "units must not be negative");
    refused((struct job){.min = INT64_MIN}, "units must not be negative");
    refused((struct job){.max = -1000}, "units must not be negative");
    refused((struct job){.req = 1000001 * UNIT}, "more than a million");
    refused((struct job){.kind = JOB_MALLEABLE, .max = INT64_MAX}, "more than a million");
    refused((struct job){.kind = JOB_MALLEABLE, .req = 2000, .min = 4000, .max = 2000},
            "min 4 is above max 2");
    refused((struct job){.kind = JOB_MALLEABLE, .req = 9000, .min = 1000, .max = 8000},
            "req 9 is not between min 1 and max 8");
    refused((struct job){.kind = JOB_MALLEABLE, .req = 500, .min = 1000, .max = 8000},
            "req 0.5 is not between");
    refused((struct job){.pool = POOL_GPU, .req = 1500}, "number of GPUs must be a whole number");
    refused((struct job){.pool = POOL_ANY_GPU, .req = 500},
            "number of GPUs must be a whole number");
    refused((struct job){.pool = POOL_GPU, .cpus = -1}, "CPUs per GPU");
}

static void test_fractions_of_cpus(void **state)
{
    (void)state;
    struct err err;
    struct job j = {.kind = JOB_MALLEABLE, .min = 250, .req = 500, .max = 2500};
    assert_ok(job_normalise(&j, &err), err);
    assert_int_equal(j.min, 250);
}

static void test_numbers_refused(void **state)
{
    (void)state;
    static const double bad_work[] = {-1, NAN, INFINITY, -INFINITY, 2e18};
    for (size_t i = 0; i < COUNT_OF(bad_work); i++)
        refused((struct job){.work = bad_work[i]}, "work must be");
    static const double bad_weight[] = {-1, NAN, INFINITY};
    for (size_t i = 0; i < COUNT_OF(bad_weight); i++)
        refused((struct job){.weight = bad_weight[i]}, "weight must be");
    refused((struct job){.can_pause = true, .no_preempt = true}, "never preempted");
    refused((struct job){.submit = -1}, "submit time must be");
    refused((struct job){.submit = USEC_NEVER}, "submit time must be");
    refused((struct job){.deadline = -1}, "deadline must be");
    refused((struct job){.deadline = USEC_NEVER - 1}, "deadline must be");
    refused((struct job){.memory_mb = -1}, "memory must not be negative");
    refused((struct job){.cost.restart = -1}, "costs must be");
    refused((struct job){.cost.resize = USEC_NEVER}, "costs must be");
    refused((struct job){.cost.move = INT64_MIN}, "costs must be");
    refused((struct job){.cost.checkpoint = -1}, "costs must be");
}

static void test_speed_by_pool(void **state)
{
    (void)state;
    const struct speed curves[] = {{.len = 1}, {.len = 2}, {.len = 3}};
    struct job j = {.speeds = curves, .nspeeds = 3};
    for (unsigned pool = 0; pool < 3; pool++)
        assert_ptr_equal(job_speed(&j, pool), &curves[pool]);
    assert_ptr_equal(job_speed(&j, 7), &curves[0]);
    j.nspeeds = 1;
    assert_ptr_equal(job_speed(&j, 2), &curves[0]);
}

static void test_takes_pool(void **state)
{
    (void)state;
    struct job cpu = {.pool = POOL_CPU}, a100 = {.pool = POOL_GPU + 1},
               any = {.pool = POOL_ANY_GPU, .speeds = &linear, .nspeeds = 1};
    assert_true(job_takes_pool(&cpu, POOL_CPU));
    assert_false(job_takes_pool(&cpu, POOL_GPU));
    assert_true(job_takes_pool(&a100, POOL_GPU + 1));
    assert_false(job_takes_pool(&a100, POOL_GPU));
    assert_true(job_takes_pool(&any, POOL_GPU));
    assert_true(job_takes_pool(&any, POOLS_MAX - 1));
    assert_false(job_takes_pool(&any, POOL_CPU));
}

static const struct CMUnitTest tests[] = {
    TEST(test_defaults),          TEST(test_sizes),           TEST(test_units_refused),
    TEST(test_fractions_of_cpus), TEST(test_numbers_refused), TEST(test_speed_by_pool),
    TEST(test_takes_pool),
};

int main(void)
{
    return RUN(tests);
}
