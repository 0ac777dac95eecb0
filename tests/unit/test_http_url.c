/* Tests of http/url: splitting, decoding, query parameters, escaping. */
#include "http/url.h"

#include "support/test.h"

static void assert_split(const char *target, const char *path, const char *query)
{
    struct err err;
    char text[128], *got_path, *got_query;
    strcpy(text, target);
    assert_ok(url_split(text, &got_path, &got_query, &err), err);
    assert_string_equal(got_path, path);
    if (query)
        assert_string_equal(got_query, query);
    else
        assert_null(got_query);
}

static void test_split(void **state)
{
    (void)state;
    assert_split("/", "/", NULL);
    assert_split("/a/b", "/a/b", NULL);
    assert_split("/a?", "/a", "");
    assert_split("/a?b=c?d", "/a", "b=c?d");
    assert_split("*", "*", NULL);
    assert_split("http://host/a?b", "/a", "b");
    assert_split("https://host:8080/a", "/a", NULL);
    assert_split("http://host", "/", NULL);
    assert_split("http://host?b", "/", "b");
    assert_split("http://", "/", NULL);
    assert_split("//a", "//a", NULL);
}

static void test_split_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",     "a",    "?a",     "**", "ftp://host/",
                                      "/a#b", "/a b", "http:/a"};
    struct err err;
    char text[64], *path, *query;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        strcpy(text, bad[i]);
        assert_error(url_split(text, &path, &query, &err), err, ERR_INVALID, "the address must");
    }
}

static void test_segments(void **state)
{
    (void)state;
    struct err err;
    char *s[3], text[64];
    strcpy(text, "/");
    assert_int_equal(url_segments(text, s, 3, &err), 1);
    assert_string_equal(s[0], "");
    strcpy(text, "/a/b%2Fc/");
    assert_int_equal(url_segments(text, s, 3, &err), 3);
    assert_string_equal(s[0], "a");
    assert_string_equal(s[1], "b/c");
    assert_string_equal(s[2], "");
    strcpy(text, "/1/2/3/4/5");
    assert_int_equal(url_segments(text, s, 3, &err), 5);
    assert_string_equal(s[2], "3");
    strcpy(text, "/a+b");
    assert_int_equal(url_segments(text, s, 3, &err), 1);
    assert_string_equal(s[0], "a+b");
    strcpy(text, "/a/%/b");
    assert_error(url_segments(text, s, 3, &err), err, ERR_INVALID, "two hexadecimal digits");
}

static void test_decode(void **state)
{
    (void)state;
    struct err err;
    char text[64];
    strcpy(text, "%41%7a%C3%A9+%2b%25");
    assert_ok(url_decode(text, true, &err), err);
    assert_string_equal(text, "Az\xc3\xa9 +%");
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"%", "two hexadecimal"},
        {"a%4", "two hexadecimal"},
        {"%g0", "two hexadecimal"},
        {"%0g", "two hexadecimal"},
        {"%00", "0x00"},
        {"%1f", "0x1f"},
        {"a\tb", "0x09"},
        {"%7F", "0x7f"},
        {"%ff", "not valid UTF-8"},
        {"%c3", "not valid UTF-8"},
        {"%ed%a0%80", "not valid UTF-8"},
        {"\xff", "not valid UTF-8"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        strcpy(text, bad[i].text);
        assert_error(url_decode(text, false, &err), err, ERR_INVALID, bad[i].words);
    }
}

static void test_query(void **state)
{
    (void)state;
    static const char *const want[] = {"a", "1",   "b", "",  "a",   "2 3",
                                       "c", "x=y", "",  "v", "d e", ""};
    struct url_query q = {0};
    struct err err;
    char text[] = "a=1&b&a=2+3&&c=x=y&=v&d%20e=&";
    assert_ok(url_parse_query(text, &q, &err), err);
    assert_int_equal(q.n * 2, COUNT_OF(want));
    for (size_t i = 0; i < q.n; i++) {
        assert_string_equal(q.at[i].name, want[2 * i]);
        assert_string_equal(q.at[i].value, want[2 * i + 1]);
    }
    char empty[] = "", bad[] = "a=1&b=%2", bad_name[] = "%=1";
    q.n = 0;
    assert_ok(url_parse_query(empty, &q, &err), err);
    assert_int_equal(q.n, 0);
    assert_error(url_parse_query(bad, &q, &err), err, ERR_INVALID, "hexadecimal");
    assert_error(url_parse_query(bad_name, &q, &err), err, ERR_INVALID, "hexadecimal");
    char many[600];
    for (size_t i = 0; i < 598; i += 2)
        memcpy(many + i, "a&", 3);
    q.n = 0;
    assert_error(url_parse_query(many, &q, &err), err, ERR_INVALID, "more than 256");
    VEC_DONE(&q);
}

static void test_escape(void **state)
{
    (void)state;
    struct str s = {0};
    struct err err;
    const char *text = "a b/c?d=e&f+g%\"\xc3\xa9~-._";
    url_add_escaped(&s, text);
    assert_string_equal(s.at, "a%20b%2Fc%3Fd%3De%26f%2Bg%25%22%C3%A9~-._");
    assert_ok(url_decode(s.at, true, &err), err);
    assert_string_equal(s.at, text);
    str_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(test_split),  TEST(test_split_refused), TEST(test_segments),
    TEST(test_decode), TEST(test_query),         TEST(test_escape),
};

int main(void)
{
    return RUN(tests);
}
