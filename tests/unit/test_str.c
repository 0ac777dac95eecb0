/* Tests of base/str: buffers, JSON and HTML escapes, strict numbers, guesses. */
#include "base/str.h"

#include "support/test.h"

static void test_buffer(void **state)
{
    (void)state;
    struct str s = {0};
    str_add(&s, "");
    assert_string_equal(s.at, "");
    for (int i = 0; i < 1000; i++) {
        str_add(&s, "ab");
        str_addf(&s, "%d;", i % 10);
        str_add_n(&s, "xyz", 1);
    }
    assert_int_equal(s.n, 5000);
    assert_int_equal(strlen(s.at), s.n);
    assert_memory_equal(s.at + 4995, "ab9;x", 6);
    str_done(&s);
    assert_null(s.at);
    str_done(&s);
}

/* Each length around the growth of the buffer, its end included. */
static void test_buffer_grows_in_time(void **state)
{
    (void)state;
    char text[300];
    for (size_t n = 0; n < sizeof text - 1; n++) {
        struct str s = {0};
        memset(text, 'x', n);
        text[n] = '\0';
        str_addf(&s, "%s", text);
        str_addf(&s, "%s", "");
        assert_int_equal(s.n, n);
        assert_string_equal(s.at, text);
        assert_true(s.cap > s.n);
        str_done(&s);
    }
}

static void assert_json(const char *text, const char *want)
{
    struct str s = {0};
    str_add_json(&s, text);
    assert_string_equal(s.at, want);
    assert_int_equal(s.n, strlen(want));
    str_done(&s);
}

static void test_json(void **state)
{
    (void)state;
    assert_json("", "\"\"");
    assert_json("a\"b\\c/", "\"a\\\"b\\\\c/\"");
    assert_json("\n\t\r\x01\x1f\x7f", "\"\\n\\t\\u000d\\u0001\\u001f\\u007f\"");
    assert_json("\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x82",
                "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\x82\"");
}

static void test_json_bad_utf8(void **state)
{
    (void)state;
    assert_json("\xff", "\"\\ufffd\"");
    assert_json("a\x80z", "\"a\\ufffdz\"");
    assert_json("\xc0\xaf", "\"\\ufffd\\ufffd\"");                       /* overlong */
    assert_json("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");            /* a surrogate */
    assert_json("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\""); /* past U+10FFFF */
    /* Cut off by the end of the text: nothing behind it may be read. */
    assert_json("\xc3", "\"\\ufffd\"");
    assert_json("\xe2\x82", "\"\\ufffd\\ufffd\"");
    assert_json("\xf0\x9f\x9a", "\"\\ufffd\\ufffd\\ufffd\"");
    assert_json("\xe2\"x", "\"\\ufffd\\\"x\"");
}

static void test_html(void **state)
{
    (void)state;
    struct str s = {0};
    str_add_html(&s, "<a href=\"x\">&'</a>");
    assert_string_equal(s.at, "&lt;a href=&quot;x&quot;&gt;&amp;&#39;&lt;/a&gt;");
    str_done(&s);
}

static void test_int(void **state)
{
    (void)state;
    struct err err;
    int64_t v = 0;
    assert_ok(str_parse_int("42", 0, 100, &v, &err), err);
    assert_int_equal(v, 42);
    assert_ok(str_parse_int("-7", -7, 100, &v, &err), err);
    assert_int_equal(v, -7);
    assert_ok(str_parse_int("+0012", 0, 12, &v, &err), err);
    assert_int_equal(v, 12);
    assert_ok(str_parse_int("9223372036854775807", INT64_MIN, INT64_MAX, &v, &err), err);
    assert_true(v == INT64_MAX);
    assert_ok(str_parse_int("-9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), err);
    assert_true(v == INT64_MIN);
}

static void test_int_refused(void **state)
{
    (void)state;
    struct err err;
    static const char *const bad[] = {"",    " 1",  "1 ", "1x",  "x", "0x10", "1.0",
                                      "1e3", "--1", "+",  "\t1", "-", "1,000"};
    int64_t v = 77;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(str_parse_int(bad[i], 0, 100, &v, &err), err, ERR_INVALID,
                     "is not a whole number");
    assert_error(str_parse_int("101", 0, 100, &v, &err), err, ERR_INVALID,
                 "101 is not between 0 and 100");
    assert_error(str_parse_int("-1", 0, 100, &v, &err), err, ERR_INVALID, "is not between");
    assert_error(str_parse_int("9223372036854775808", INT64_MIN, INT64_MAX, &v, &err), err,
                 ERR_INVALID, "is not between");
    assert_error(str_parse_int("-99999999999999999999", INT64_MIN, INT64_MAX, &v, &err), err,
                 ERR_INVALID, "is not between");
    assert_int_equal(v, 77);
}

static void test_double(void **state)
{
    (void)state;
    struct err err;
    double v = 0;
    static const struct {
        const char *text;
        double value;
    } good[] = {{"0", 0},      {"1.5", 1.5},    {"-2.25", -2.25}, {"+.5", 0.5}, {"3.", 3},
                {"1e3", 1000}, {"1E-3", 0.001}, {"-0", 0},        {"1e-400", 0}};
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        assert_ok(str_parse_double(good[i].text, -1e9, 1e9, &v, &err), err);
        assert_near(v, good[i].value, 0);
    }
    assert_ok(str_parse_double("1e9", 0, 1e9, &v, &err), err);
}

static void test_double_refused(void **state)
{
    (void)state;
    struct err err;
    static const char *const bad[] = {"",     " 1",   "1 ",       "1..2", "nan",   "inf",
                                      "-inf", "+nan", "infinity", "0x10", "0X1p3", "1,5",
                                      "e5",   ".",    "-",        "1e",   "5%"};
    double v = 77;
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_error(str_parse_double(bad[i], -1e9, 1e9, &v, &err), err, ERR_INVALID,
                     "is not a number");
    assert_error(str_parse_double("1e400", -1e9, INFINITY, &v, &err), err, ERR_INVALID,
                 "is not between");
    assert_error(str_parse_double("1.01", 0, 1, &v, &err), err, ERR_INVALID,
                 "1.01 is not between 0 and 1");
    assert_near(v, 77, 0);
}

static void test_equal_nocase(void **state)
{
    (void)state;
    assert_true(str_equal_nocase("", ""));
    assert_true(str_equal_nocase("ResNet", "rESnET"));
    assert_false(str_equal_nocase("resnet", "resnet5"));
    assert_false(str_equal_nocase("resnet5", "resnet"));
    assert_false(str_equal_nocase("", "x"));
    assert_false(str_equal_nocase("a", "b"));
}

static const char *const names[] = {"fifo",    "srjf",      "srtf",         "las",
                                    "gittins", "afs-l",     "elastic-fifo", "optimus",
                                    "equal",   "first-fit", "specon",       "deadline"};

static const char *name_at(const void *ctx, size_t i)
{
    return ((const char *const *)ctx)[i];
}

static const char *nearest(const char *text)
{
    return str_nearest(text, COUNT_OF(names), name_at, names);
}

static void test_nearest(void **state)
{
    (void)state;
    assert_string_equal(nearest("fifo"), "fifo");
    assert_string_equal(nearest("fiffo"), "fifo");
    assert_string_equal(nearest("FIFO"), "fifo");
    assert_string_equal(nearest("gitins"), "gittins");
    assert_string_equal(nearest("afsl"), "afs-l");
    assert_string_equal(nearest("elastic_fifo"), "elastic-fifo");
    assert_string_equal(nearest("dead"), "deadline");
    assert_string_equal(nearest("opt"), "optimus");
    assert_string_equal(nearest("frist-fit"), "first-fit");
}

static void test_nearest_none(void **state)
{
    (void)state;
    char lengthy[200];
    memset(lengthy, 'f', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    assert_null(nearest(""));
    assert_null(nearest("kubernetes"));
    assert_null(nearest(lengthy));
    assert_null(str_nearest("fifo", 0, name_at, names));
    static const char *const letters[] = {"a", "b"};
    assert_null(str_nearest("x", 2, name_at, letters)); /* nothing in common */
    assert_string_equal(str_nearest("B", 2, name_at, letters), "b");
    const char *const too_long[] = {lengthy, "fog"};
    assert_string_equal(str_nearest("fig", 2, name_at, too_long), "fog");
}

static void test_glob(void **state)
{
    (void)state;
    static const char *const matches[][2] = {
        {"", ""},         {"*", ""},           {"*", "a"},     {"a?c", "abc"},  {"a*", "a"},
        {"*.py", "a.py"}, {"a*b*c", "aXbXbc"}, {"**a**", "a"}, {"*ab", "aaab"}, {"a[1]", "a[1]"},
    };
    static const char *const differ[][2] = {
        {"", "a"}, {"?", ""}, {"a?c", "ac"}, {"a*b", "abc"}, {"*ab", "aba"}, {"a", "A"},
    };
    for (size_t i = 0; i < COUNT_OF(matches); i++)
        assert_true(str_glob(matches[i][0], matches[i][1]));
    for (size_t i = 0; i < COUNT_OF(differ); i++)
        assert_false(str_glob(differ[i][0], differ[i][1]));
}

static void test_shell(void **state)
{
    (void)state;
    static const char *const words[][2] = {
        {"train.py", "train.py"}, {"--lr=0.1", "--lr=0.1"}, {"", "''"},         {"a b", "'a b'"},
        {"$HOME", "'$HOME'"},     {"it's", "'it'\\''s'"},   {"a\nb", "'a\nb'"}, {"~", "'~'"},
    };
    for (size_t i = 0; i < COUNT_OF(words); i++) {
        struct str s = {0};
        str_add_shell(&s, words[i][0]);
        assert_string_equal(s.at, words[i][1]);
        str_done(&s);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(test_buffer),         TEST(test_buffer_grows_in_time),
    TEST(test_json),           TEST(test_json_bad_utf8),
    TEST(test_html),           TEST(test_int),
    TEST(test_int_refused),    TEST(test_double),
    TEST(test_double_refused), TEST(test_equal_nocase),
    TEST(test_nearest),        TEST(test_nearest_none),
    TEST(test_glob),           TEST(test_shell),
};

int main(void)
{
    return RUN(tests);
}
