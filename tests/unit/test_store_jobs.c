/* Tests of jobs in the store: every column comes back. */
#include <limits.h>

#include "store/job_list.h"
#include "store/job_state.h"
#include "store/jobs.h"
#include "store/query.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

/* NAN is equal to NAN here. */
static void assert_real(double a, double b)
{
    if (a != b && !(isnan(a) && isnan(b)))
        fail_msg("%.17g is not %.17g", a, b);
}

static void assert_same_job(const struct job_row *a, const struct job_row *b)
{
    assert_int_equal(a->id, b->id);
    assert_string_equal(a->name, b->name);
    assert_string_equal(a->user, b->user);
    assert_string_equal(a->spec, b->spec);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->priority, b->priority);
    assert_true(a->array == b->array);
    assert_true(a->array_index == b->array_index);
    assert_true(a->submitted == b->submitted && a->started == b->started && a->ended == b->ended);
    assert_true(a->deadline == b->deadline && a->eligible == b->eligible);
    assert_int_equal(a->attempt, b->attempt);
    assert_int_equal(a->failures, b->failures);
    assert_int_equal(a->code, b->code);
    assert_string_equal(a->reason, b->reason);
    assert_real(a->work, b->work);
    assert_real(a->done, b->done);
    assert_real(a->attained, b->attained);
    assert_true(a->run_time == b->run_time && a->wait_time == b->wait_time);
    assert_true(a->cpus_min == b->cpus_min && a->cpus_max == b->cpus_max);
    assert_real(a->step, b->step);
    assert_real(a->total, b->total);
    assert_real(a->metric, b->metric);
}

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
    assert_ok(store_job_add(s, row, &id, &err), err);
    return id;
}

/* Rows with zeroes, with ends of ranges, with odd texts. */
static const struct job_row odd_jobs[] = {
    {.name = "", .user = "", .spec = "", .reason = ""},
    {.name = "\xe5\x88\x97\xe8\xbb\x8a \xf0\x9f\x9a\x82 \xd9\x82\xd8\xb7\xd8\xa7\xd8\xb1",
     .user = "Zo\xc3\xab",
     .spec = "{\"a\":\"'; DROP TABLE job; --\"}",
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
     .work = NAN,
     .done = NAN,
     .attained = NAN,
     .run_time = INT64_MIN,
     .wait_time = INT64_MAX,
     .cpus_min = INT64_MIN,
     .cpus_max = INT64_MAX,
     .step = NAN,
     .total = NAN,
     .metric = NAN},
    {.name = "-",
     .user = "root",
     .spec = "{}",
     .state = JOB_DONE,
     .priority = INT_MAX,
     .code = 255,
     .reason = "x",
     .work = 1.7976931348623157e308,
     .done = -4.9e-324,
     .attained = 9007199254740993.0,
     .step = -INFINITY,
     .total = INFINITY,
     .metric = 0.1},
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
        want.id = ids[i];
        assert_same_job(&got, &want);
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
        row.user = kept.user;
        row.spec = kept.spec;
        row.array = first.id;
        row.submitted = kept.submitted;
        struct job_row got = get_job(s, first.id, &rows);
        assert_same_job(&got, &row);
    }
    assert_ok(store_job_save_spec(s, first.id, "{\"cpus\":\"2\"}", &err), err);
    assert_string_equal(get_job(s, first.id, &rows).spec, "{\"cpus\":\"2\"}");
    store_dir_rows_done(&rows);
    store_close(s);
}

static void test_texts_that_are_no_utf8(void **state)
{
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct job_row row = store_dir_job(1);
    row.name = "a\xff\xc3(\xed\xa0\x80z\xe2\x82";
    row.spec = "{\"x\":\"\x80\"}";
    row.user = row.reason = NULL;
    struct job_row got = get_job(s, add_job(s, &row), &rows);
    /* Each byte that fits nowhere becomes U+FFFD. */
    assert_string_equal(got.name, "a\xef\xbf\xbd\xef\xbf\xbd(\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"
                                  "z\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(got.spec, "{\"x\":\"\xef\xbf\xbd\"}");
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
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_LIMIT, "no id is left");
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
    row.id = 5;
    assert_error(store_job_save(s, &row, &err), err, ERR_NOT_FOUND, "no job 5");
    assert_error(store_job_save_spec(s, 5, "{}", &err), err, ERR_NOT_FOUND, "no job 5");
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

/* A spec of more than SQLite holds, which is a gigabyte and here less, is refused
 * without a trace of its job. */
static void test_too_long(void **state)
{
    enum { LIMIT = 100000 };
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t id = 0;
    AUTO_FREE char *spec = xmalloc(LIMIT + 2);
    memset(spec, 'x', LIMIT + 1);
    spec[LIMIT + 1] = '\0';
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LIMIT);
    struct job_row row = store_dir_job(1);
    row.spec = spec;
    assert_error(store_job_add(s, &row, &id, &err), err, ERR_LIMIT, "too long");
    row = store_dir_job(2);
    assert_int_equal(add_job(s, &row), 1);
    assert_ok(store_commit(s, &err), err);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

/* A lean list leaves out what may be large, and nothing else. */
static void test_lean_specs(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    struct store_dir_rows rows = {0};
    static const char *const specs[][2] = {
        {"{\"name\":\"a\",\"env\":{\"K\":\"V\"},\"cpus\":1.5}", "{\"name\":\"a\",\"cpus\":1.5}"},
        {"{\"script\":\"#!/bin/sh\",\"deep\":{\"env\":1}}", "{\"deep\":{\"env\":1}}"},
        {"[1]", "[1]"},
        {"no JSON", "no JSON"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        struct job_row row = store_dir_job(1);
        row.spec = specs[i][0];
        add_job(s, &row);
    }
    struct job_filter f = {.oldest_first = true, .lean = true};
    assert_ok(store_job_list(s, &f, store_dir_keep, &rows, &err), err);
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        assert_string_equal(rows.rows.at[i].spec, specs[i][1]);
        assert_string_equal(get_job(s, (int64_t)i + 1, &rows).spec, specs[i][0]);
    }
    store_dir_rows_done(&rows);
    store_close(s);
}

static void test_counts(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    uint64_t count[JOB_STATE_COUNT];
    assert_ok(store_job_count(s, count, &err), err);
    for (enum job_state i = 0; i < JOB_STATE_COUNT; i++)
        assert_int_equal(count[i], 0);
    for (int i = 0; i < 30; i++) {
        struct job_row row = store_dir_job(i);
        row.state = i % 3 == 0 ? JOB_HELD : JOB_QUEUED;
        row.id = add_job(s, &row);
        if (i % 5 == 0)
            row.state = JOB_RUNNING;
        assert_ok(store_job_save(s, &row, &err), err);
        assert_ok(store_job_save(s, &row, &err), err);
    }
    assert_ok(store_commit(s, &err), err);
    struct job_row undone = store_dir_job(99);
    add_job(s, &undone);
    store_rollback(s);
    assert_ok(store_job_count(s, count, &err), err);
    assert_int_equal(count[JOB_RUNNING], 6);
    assert_int_equal(count[JOB_HELD], 8);
    assert_int_equal(count[JOB_QUEUED], 16);
    assert_int_equal(count[JOB_DONE], 0);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_round_trip),
    STORE_TEST(test_save),
    STORE_TEST(test_texts_that_are_no_utf8),
    STORE_TEST(test_ids),
    STORE_TEST(test_bad_jobs),
    STORE_TEST(test_what_a_callback_returns),
    STORE_TEST(test_too_long),
    STORE_TEST(test_lean_specs),
    STORE_TEST(test_counts),
};

int main(void)
{
    return RUN(tests);
}
