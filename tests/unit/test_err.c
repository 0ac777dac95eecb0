/* Tests of base/err: texts, prefixes, what they are cut to, the table of codes. */
#include "base/err.h"

#include "support/test.h"

static void test_set(void **state)
{
    (void)state;
    struct err err = {0};
    assert_int_equal(err_set(&err, ERR_NOT_FOUND, "job %d of %s", 7, "bob"), -1);
    assert_int_equal(err.code, ERR_NOT_FOUND);
    assert_string_equal(err.text, "job 7 of bob");
    assert_int_equal(err_set(&err, ERR_IO, "%s", ""), -1);
    assert_string_equal(err.text, "");
}

static void test_null_is_legal(void **state)
{
    (void)state;
    assert_int_equal(err_set(NULL, ERR_IO, "nobody reads this"), -1);
    assert_int_equal(err_prefix(NULL, "nor this"), -1);
}

static void test_prefix(void **state)
{
    (void)state;
    struct err err = {0};
    err_set(&err, ERR_INVALID, "not a number");
    assert_int_equal(err_prefix(&err, "line %d", 3), -1);
    assert_int_equal(err_prefix(&err, "%s", "jobs.csv"), -1);
    assert_string_equal(err.text, "jobs.csv: line 3: not a number");
    assert_int_equal(err.code, ERR_INVALID);
}

static void test_long_texts_are_cut(void **state)
{
    (void)state;
    struct err err = {0};
    char lengthy[1000];
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';

    err_set(&err, ERR_LIMIT, "%s", lengthy);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    err_prefix(&err, "file");
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_memory_equal(err.text, "file: xxx", 9);
    err_prefix(&err, "%s", lengthy);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    assert_int_equal(err.text[0], 'x');
}

/* The colon and the text begin to fall off the end one byte at a time. */
static void test_prefix_at_the_edge(void **state)
{
    (void)state;
    char head[300];
    for (size_t n = 245; n < 256; n++) {
        struct err err = {0};
        memset(head, 'h', n);
        head[n] = '\0';
        err_set(&err, ERR_IO, "tail");
        err_prefix(&err, "%s", head);
        char want[600];
        snprintf(want, sizeof want, "%s: tail", head);
        want[sizeof err.text - 1] = '\0';
        assert_string_equal(err.text, want);
    }
}

static void test_table(void **state)
{
    (void)state;
    static const struct {
        enum err_code code;
        int http, exit;
    } rows[] = {
        {ERR_OK, 200, 0},        {ERR_INVALID, 400, 2},  {ERR_DENIED, 403, 1},
        {ERR_NOT_FOUND, 404, 1}, {ERR_CONFLICT, 409, 1}, {ERR_LIMIT, 413, 1},
        {ERR_IO, 500, 1},        {ERR_INTERNAL, 500, 1}, {ERR_UNREACHABLE, 503, 3},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        assert_int_equal(err_http(rows[i].code), rows[i].http);
        assert_int_equal(err_exit(rows[i].code), rows[i].exit);
        assert_true(err_name(rows[i].code)[0] != '\0');
    }
    assert_string_equal(err_name(ERR_NOT_FOUND), "not_found");
}

static const struct CMUnitTest tests[] = {
    TEST(test_set),
    TEST(test_null_is_legal),
    TEST(test_prefix),
    TEST(test_long_texts_are_cut),
    TEST(test_prefix_at_the_edge),
    TEST(test_table),
};

int main(void)
{
    return RUN(tests);
}
