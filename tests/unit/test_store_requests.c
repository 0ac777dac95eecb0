/* Tests of requests in the store: each is kept once, as it came, and never changes. */
#include "store/job_list.h"
#include "store/jobs.h"
#include "store/query.h"
#include "store/store.h"
#include "support/store_dir.h"
#include "support/test.h"

static int64_t add_request(struct store *s, const char *text, const char *command)
{
    struct err err;
    int64_t id = 0;
    assert_ok(store_request_add(s, text, command, "", &id, &err), err);
    return id;
}

static void assert_request(struct store *s, int64_t id, const char *want)
{
    struct err err;
    char *text = NULL;
    assert_ok(store_request_get(s, id, &text, &err), err);
    assert_string_equal(text, want);
    free(text);
}

static int64_t count_requests(struct store *s)
{
    struct err err;
    int64_t n = -1;
    AUTO_QUERY struct query q = query_open(s, "SELECT count(*) FROM request");
    assert_ok(query_number(&q, 0, &n, &err), err);
    return n;
}

static const char *const odd_texts[][2] = {
    {"", ""},
    {"{}", "{}"},
    {"no JSON\n\t\"'; DROP TABLE request; --", "no JSON\n\t\"'; DROP TABLE request; --"},
    {"\xe5\x88\x97\xe8\xbb\x8a \xf0\x9f\x9a\x82", "\xe5\x88\x97\xe8\xbb\x8a \xf0\x9f\x9a\x82"},
    /* Each byte that fits nowhere becomes U+FFFD. */
    {"{\"x\":\"\x80\xff\"}", "{\"x\":\"\xef\xbf\xbd\xef\xbf\xbd\"}"},
    {NULL, ""},
};

static void test_odd_texts(void **state)
{
    struct store *s = store_dir_open(*state);
    int64_t ids[COUNT_OF(odd_texts)];
    for (size_t i = 0; i < COUNT_OF(odd_texts); i++)
        ids[i] = add_request(s, odd_texts[i][0], odd_texts[i][0]);
    store_dir_commit(s);
    store_close(s);
    s = store_dir_open(*state);
    for (size_t i = 0; i < COUNT_OF(odd_texts); i++) {
        struct store_dir_rows rows = {0};
        struct err err;
        struct job_row row = store_dir_job(1);
        row.request = ids[i];
        assert_request(s, ids[i], odd_texts[i][1]);
        assert_ok(store_job_add(s, &row, &row.id, &err), err);
        assert_ok(store_job_get(s, row.id, store_dir_keep, &rows, &err), err);
        assert_string_equal(rows.rows.at[0].command, odd_texts[i][1]);
        store_dir_rows_done(&rows);
    }
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

/* An environment, or a script, may be large: it comes back whole, and a list does not
 * read it. */
static void test_large(void **state)
{
    enum { LARGE = 5 << 20 };
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    int read = 0, after = 0, highest = 0;
    char *large = xmalloc(LARGE + 1);
    for (size_t i = 0; i < LARGE; i++)
        large[i] = (char)('a' + i * 7919 % 26);
    large[LARGE] = '\0';
    struct job_row row = store_dir_job(1);
    row.request = add_request(s, large, "[\"large\"]");
    assert_ok(store_job_add(s, &row, &row.id, &err), err);
    store_dir_commit(s);
    store_close(s);
    s = store_dir_open(*state);
    assert_ok(store_job_list(s, &(struct job_filter){0}, store_dir_keep, &rows, &err), err);
    assert_string_equal(rows.rows.at[0].command, "[\"large\"]");
    sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_MISS, &read, &highest, 0);
    assert_true(read < 50);
    assert_request(s, row.request, large);
    sqlite3_db_status(s->db, SQLITE_DBSTATUS_CACHE_MISS, &after, &highest, 0);
    assert_true(after - read > LARGE / 4096);
    store_dir_rows_done(&rows);
    free(large);
    store_close(s);
}

/* A text of more than SQLite holds, which is a gigabyte and here less, is refused without a
 * trace. */
static void test_too_long(void **state)
{
    enum { LIMIT = 100000 };
    struct store *s = store_dir_open(*state);
    struct err err;
    int64_t id = 77;
    AUTO_FREE char *text = xmalloc(LIMIT + 2);
    memset(text, 'x', LIMIT + 1);
    text[LIMIT + 1] = '\0';
    sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, LIMIT);
    assert_error(store_request_add(s, text, "[]", "", &id, &err), err, ERR_LIMIT, "too long");
    assert_error(store_request_add(s, "{}", text, "", &id, &err), err, ERR_LIMIT, "too long");
    assert_int_equal(id, 77);
    assert_int_equal(count_requests(s), 0);
    assert_int_equal(add_request(s, "{}", "[]"), 1);
    store_dir_commit(s);
    assert_int_equal(count_requests(s), 1);
    store_close(s);
}

static void test_none(void **state)
{
    struct store *s = store_dir_open(*state);
    struct err err;
    char *text = NULL;
    static const int64_t ids[] = {0, 1, -1, INT64_MAX};
    for (size_t i = 0; i < COUNT_OF(ids); i++)
        assert_error(store_request_get(s, ids[i], &text, &err), err, ERR_NOT_FOUND, "no request");
    assert_null(text);
    assert_int_equal(add_request(s, "{}", "[]"), 1);
    store_rollback(s);
    assert_error(store_request_get(s, 1, &text, &err), err, ERR_NOT_FOUND, "no request 1");
    store_close(s);
}

/* The members of an array share one request, which their changes do not touch. */
static void test_array(void **state)
{
    enum { MEMBERS = 1000 };
    struct store *s = store_dir_open(*state);
    struct store_dir_rows rows = {0};
    struct err err;
    struct job_filter array = {.array = 1};
    int64_t request = add_request(s, "{\"array\":\"0-999\"}", "[\"sleep\",\"1\"]");
    for (int64_t i = 0, first = JOB_ARRAY_FIRST; i < MEMBERS; i++) {
        struct job_row row = store_dir_job(i);
        row.request = request;
        row.array = first;
        row.array_index = i;
        assert_ok(store_job_add(s, &row, &row.id, &err), err);
        first = i ? first : row.id;
        row.time_limit = i;
        row.cpus_max = 1000 * i;
        assert_ok(store_job_save(s, &row, &err), err);
    }
    store_dir_commit(s);
    assert_int_equal(count_requests(s), 1);
    assert_ok(store_job_list(s, &array, store_dir_keep, &rows, &err), err);
    assert_int_equal(rows.rows.n, MEMBERS);
    for (int64_t i = 0; i < MEMBERS; i++) {
        const struct job_row *row = &rows.rows.at[MEMBERS - 1 - i];
        assert_true(row->request == request && row->array_index == i);
        assert_true(row->time_limit == i && row->cpus_max == 1000 * i);
        assert_string_equal(row->command, "[\"sleep\",\"1\"]");
    }
    assert_request(s, request, "{\"array\":\"0-999\"}");
    store_dir_rows_done(&rows);
    store_close(s);
    store_dir_check(((struct store_dir *)*state)->path);
}

static const struct CMUnitTest tests[] = {
    STORE_TEST(test_odd_texts), STORE_TEST(test_large), STORE_TEST(test_too_long),
    STORE_TEST(test_none),      STORE_TEST(test_array),
};

int main(void)
{
    return RUN(tests);
}
