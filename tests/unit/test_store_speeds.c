/* Tests of the summaries of step times in the store. */
#include "store/speeds.h"

#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

struct seen_speeds {
    struct speed_row at[8];
    unsigned n;
};

static int see_speed(void *ctx, const struct speed_row *row, struct err *err)
{
    (void)err;
    struct seen_speeds *seen = ctx;
    assert_true(seen->n < COUNT_OF(seen->at));
    seen->at[seen->n++] = *row;
    return 0;
}

static struct seen_speeds list(struct store *s, int64_t job)
{
    struct err err;
    struct seen_speeds seen = {0};
    assert_ok(store_speed_list(s, job, see_speed, &seen, &err), err);
    return seen;
}

static void assert_same(const struct speed_row *a, const struct speed_row *b)
{
    assert_true(a->size == b->size && a->last == b->last);
    assert_true(a->units == b->units && a->mean == b->mean && a->squares == b->squares);
    assert_true(a->inside == b->inside && a->weight == b->weight);
}

/* By size, each with what was saved last; other jobs have their own. */
static void test_speeds(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    static const struct speed_row odd[] = {
        {0},
        {1, 1.5, -INFINITY, 1e300, 4.9e-324, -0.5, INT64_MIN},
        {UINT32_MAX, 9007199254740993.0, 0.1, INFINITY, 1.7976931348623157e308, 3, INT64_MAX},
    };
    int64_t job = store_dir_add_job(s, JOB_RUNNING, 0),
            other = store_dir_add_job(s, JOB_RUNNING, 0);
    for (size_t i = COUNT_OF(odd); i-- > 0;)
        assert_ok(store_speed_save(s, job, &odd[i], &err), err);
    struct speed_row row = {2, 2, NAN, 0, 0, 1, 7};
    assert_ok(store_speed_save(s, other, &row, &err), err);
    store_dir_commit(s);
    store_close(s);
    s = store_dir_open(*state);
    struct seen_speeds seen = list(s, job);
    assert_int_equal(seen.n, COUNT_OF(odd));
    for (size_t i = 0; i < COUNT_OF(odd); i++)
        assert_same(&seen.at[i], &odd[i]);
    assert_true(isnan(list(s, other).at[0].mean));
    row.size = 1;
    row.mean = 12;
    assert_ok(store_speed_save(s, job, &row, &err), err);
    seen = list(s, job);
    assert_int_equal(seen.n, COUNT_OF(odd));
    assert_same(&seen.at[0], &odd[0]);
    assert_same(&seen.at[1], &row);
    assert_same(&seen.at[2], &odd[2]);
    assert_int_equal(list(s, other).n, 1);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static int stop_at_once(void *ctx, const struct speed_row *row, struct err *err)
{
    see_speed(ctx, row, err);
    return 1;
}

static int fail_always(void *ctx, const struct speed_row *row, struct err *err)
{
    (void)ctx;
    return err_set(err, ERR_LIMIT, "enough of %u", row->size);
}

static void test_bad_speeds(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct seen_speeds seen = {0};
    struct speed_row row = {.size = 3};
    assert_error(store_speed_save(s, 7, &row, &err), err, ERR_NOT_FOUND, "no job 7");
    assert_int_equal(list(s, 7).n, 0);
    int64_t job = store_dir_add_job(s, JOB_RUNNING, 0);
    assert_ok(store_speed_save(s, job, &row, &err), err);
    row.size = 4;
    assert_ok(store_speed_save(s, job, &row, &err), err);
    assert_ok(store_speed_list(s, job, stop_at_once, &seen, &err), err);
    assert_int_equal(seen.n, 1);
    assert_error(store_speed_list(s, job, fail_always, NULL, &err), err, ERR_LIMIT, "enough of 3");
    store_close(s);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_speeds),
    STORE_TEST(test_bad_speeds),
};

int main(void)
{
    return RUN(tests);
}
