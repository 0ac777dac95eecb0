/* Tests of single jobs in the store: every column comes back. */
#include <limits.h>

#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static struct job_row get_job(struct store *s, int64_t id, struct store_dir_rows *rows)
{
    struct err err;
    assert_ok(store_job_get(s, id, store_dir_keep, rows, &err), err);
    return rows->rows.at[rows->rows.n - 1];
}

static int64_t add_job(struct store *s, const struct job_row *row)
{
    struct err err;
    int64_t id = 0;
    assert_ok(store_dir_submit(s, row, &id, &err), err);
    return id;
}

/* Rows with zeroes, with ends of ranges, with odd texts. */
static const struct job_row odd_jobs[] = {
    {.name = "", .user = "", .reason = "", .error = ""},
    {.name = "\xe5\x88\x97\xe8\xbb\x8a \xf0\x9f\x9a\x82 \xd9\x82\xd8\xb7\xd8\xa7\xd8\xb1",
     .user = "Zo\xc3\xab",
     .state = JOB_LOST,
     .priority = INT_MIN,
     .array = INT64_MAX,
     .array_index = INT64_MIN,
     .submitted = INT64_MIN,
     .started = INT64_MAX,
     .ended = -1,
     .deadline = USEC_NEVER,
     .eligible = -1,
     .attempt = UINT32_MAX,
     .failures = UINT32_MAX,
     .code = INT_MIN,
     .reason = "line\none\ttab \"quoted\" % ? ?1 :x @y",
     .error = "ValueError: \xc3\xa9",
     .total_from = "--epochs 14",
     .diverged = "-inf",
     .work = NAN,
     .done = NAN,
     .attained = NAN,
     .run_time = INT64_MIN,
     .wait_time = INT64_MAX,
     .cpus_min = INT64_MIN,
     .cpus_max = INT64_MAX,
     .gpus_min = INT64_MAX,
     .gpus_max = INT64_MIN,
     .memory_mb = INT64_MAX,
     .time_limit = INT64_MIN,
     .resize_cost = INT64_MAX,
     .held = true,
     .step = NAN,
     .total = NAN,
     .epoch = NAN,
     .epochs = NAN,
     .loss = NAN,
     .metric = NAN,
     .rate = NAN,
     .metric_name = "'; DROP TABLE job; --",
     .progress_source = "\xe5\x88\x97\xe8\xbb\x8a",
     .progress_at = INT64_MIN},
    {.name = "-",
     .user = "root",
     .state = JOB_DONE,
     .priority = INT_MAX,
     .code = 255,
     .reason = "x",
     .error = "",
     .work = 1.7976931348623157e308,
     .done = -4.9e-324,
     .attained = 9007199254740993.0,
     .step = -INFINITY,
     .total = INFINITY,
     .epoch = 2.5,
     .epochs = 1e300,
     .loss = -INFINITY,
     .metric = 0.1,
     .rate = 4.9e-324,
     .metric_name = "a name as long as the column is",
     .progress_source = "of just 15 char"},
};

static void test_round_trip(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    int64_t ids[COUNT_OF(odd_jobs)];
    for (size_t i = 0; i < COUNT_OF(odd_jobs); i++)
        ids[i] = add_job(s, &odd_jobs[i]);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    s = store_dir_open(*state);
    for (size_t i = 0; i < COUNT_OF(odd_jobs); i++) {
        struct job_row want = odd_jobs[i], got = get_job(s, ids[i], &rows);
        want.id = want.request = ids[i];
        store_dir_same_job(&got, &want);
        assert_string_equal(got.command, STORE_DIR_COMMAND);
    }
    store_dir_rows_done(&rows);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static void test_save(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    struct job_row first = store_dir_job(1);
    first.array = JOB_ARRAY_FIRST;
    first.id = add_job(s, &first);
    struct job_row kept = get_job(s, first.id, &rows);
    for (size_t i = 0; i < COUNT_OF(odd_jobs); i++) {
        struct job_row row = odd_jobs[i];
        row.id = first.id;
        assert_ok(store_job_save(s, &row, &err), err);
        /* What is not written by it stays. */
        row.request = kept.request;
        row.name = kept.name;
        row.user = kept.user;
        row.array = first.id;
        row.array_index = kept.array_index;
        row.submitted = kept.submitted;
        struct job_row got = get_job(s, first.id, &rows);
        store_dir_same_job(&got, &row);
    }
    store_dir_rows_done(&rows);
    store_close(s);
}

static void test_texts_that_are_no_utf8(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct job_row row = store_dir_job(1);
    row.name = "a\xff\xc3(\xed\xa0\x80z\xe2\x82";
    row.user = row.reason = row.error = NULL;
    struct job_row got = get_job(s, add_job(s, &row), &rows);
    /* Each byte that fits nowhere becomes U+FFFD. */
    assert_string_equal(got.name, "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                  "z\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(got.user, "");
    assert_string_equal(got.reason, "");
    store_dir_rows_done(&rows);
    store_close(s);
}

static void test_ids(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    int64_t id = 0;
    struct job_row row = store_dir_job(1);
    assert_int_equal(add_job(s, &row), 1);
    row.id = 1000;
    assert_int_equal(add_job(s, &row), 1000);
    row.id = 0;
    row.array = 1000;
    assert_int_equal(add_job(s, &row), 1001);
    assert_int_equal(get_job(s, 1001, &rows).array, 1000);
    row.id = -1;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_INVALID, "-1 is not the id");
    row.id = INT64_MAX;
    assert_true(add_job(s, &row) == INT64_MAX);
    row.id = 0;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_LIMIT, "no job ids are left");
    assert_int_equal(id, 0);
    store_dir_rows_done(&rows);
    store_close(s);
}

static void test_bad_jobs(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    int64_t id = 0;
    struct job_row row = store_dir_job(1);
    row.state = JOB_STATE_COUNT;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_INVALID, "10 is not a state");
    assert_error(store_job_save(s, &row, &err), err, ERR_INVALID, "is not a state");
    assert_false(store_dirty(s));
    row.state = JOB_HELD;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_NOT_FOUND, "no request 0");
    row.request = 7;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_NOT_FOUND, "no request 7");
    assert_int_equal(id, 0);
    row.id = 5;
    assert_error(store_job_save(s, &row, &err), err, ERR_NOT_FOUND, "no job 5");
    assert_error(store_job_get(s, 5, store_dir_keep, &rows, &err), err, ERR_NOT_FOUND, "no job 5");
    assert_error(store_job_get(s, INT64_MIN, store_dir_keep, &rows, &err), err, ERR_NOT_FOUND,
                 "no job -9223372036854775808");
    assert_int_equal(rows.rows.n, 0);
    store_close(s);
}

static int fail_always(void *ctx, const struct job_row *row, struct err *err)
{
    (void)ctx;
    return err_set(err, ERR_LIMIT, "enough of %s", row->name);
}

static int stop_at_once(void *ctx, const struct job_row *row, struct err *err)
{
    store_dir_count(ctx, row, err);
    return 1;
}

static void test_what_a_callback_returns(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    unsigned n = 0;
    struct job_row row = store_dir_job(1);
    int64_t id = add_job(s, &row);
    row = store_dir_job(2);
    add_job(s, &row);
    assert_error(store_job_get(s, id, fail_always, NULL, &err), err, ERR_LIMIT, "enough of train");
    assert_error(store_job_list(s, &(struct job_filter){0}, fail_always, NULL, &err), err,
                 ERR_LIMIT, "enough of train-00002");
    assert_ok(store_job_list(s, &(struct job_filter){0}, stop_at_once, &n, &err), err);
    assert_int_equal(n, 1);
    assert_ok(store_job_get(s, id, stop_at_once, &n, &err), err);
    assert_int_equal(n, 2);
    store_close(s);
}

/* A copy outlives the row that it is made of. */
static int copy_row(void *ctx, const struct job_row *row, struct err *err)
{
    (void)err;
    *(struct job_row *)ctx = job_row_copy(row);
    return 0;
}

static void test_copies(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    struct job_row copy;
    int64_t id = add_job(s, &odd_jobs[1]);
    assert_ok(store_job_get(s, id, copy_row, &copy, &err), err);
    struct job_row got = get_job(s, id, &rows);
    store_close(s);
    store_dir_same_job(&copy, &got);
    assert_string_equal(copy.command, STORE_DIR_COMMAND);
    job_row_done(&copy);
    /* One that was not read from the store has no command. */
    copy = job_row_copy(&odd_jobs[1]);
    assert_null(copy.command);
    store_dir_same_job(&copy, &odd_jobs[1]);
    job_row_done(&copy);
    store_dir_rows_done(&rows);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_round_trip),
    STORE_TEST(test_save),
    STORE_TEST(test_texts_that_are_no_utf8),
    STORE_TEST(test_ids),
    STORE_TEST(test_bad_jobs),
    STORE_TEST(test_what_a_callback_returns),
    STORE_TEST(test_copies),
};

int main(void)
{
    return RUN(tests);
}
