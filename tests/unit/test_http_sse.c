/* Tests of http/sse: event streams, written, and read in pieces of any size. */
#include "http/sse.h"

#include "support/test.h"

static int note(void *ctx, const struct sse_event *e)
{
    assert_int_equal(strlen(e->data), e->n);
    str_addf(ctx, "[%s|%s|%s]", e->id, e->event, e->data);
    return strstr(e->data, "stop") ? 9 : 0;
}

/* What is read from a stream, in pieces of n bytes. */
static char *read_in(const char *text, size_t n)
{
    struct sse_reader r = {0};
    struct str seen = {0};
    struct err err;
    str_add(&seen, "");
    size_t all = strlen(text);
    for (size_t at = 0; at < all; at += n)
        assert_ok(sse_read(&r, text + at, all - at < n ? all - at : n, note, &seen, &err), err);
    sse_reader_done(&r);
    return seen.at;
}

static void assert_read(const char *text, const char *want)
{
    for (size_t n = 1; n <= strlen(text) + 1; n++) {
        AUTO_FREE char *seen = read_in(text, n);
        assert_string_equal(seen, want);
    }
}

static void test_write(void **state)
{
    (void)state;
    struct str s = {0};
    sse_add_retry(&s, 2000);
    sse_add_comment(&s, "");
    sse_add_comment(&s, "one\ntwo");
    sse_add_event(&s, "7", "job", "{}");
    sse_add_event(&s, NULL, NULL, "a\nb\r\nc\rd\n");
    sse_add_event(&s, "1\r2", "x\ny", "");
    assert_string_equal(s.at, "retry: 2000\n\n: \n\n: one\n: two\n\n"
                              "id: 7\nevent: job\ndata: {}\n\n"
                              "data: a\ndata: b\ndata: c\ndata: d\ndata: \n\n"
                              "id: 1\nevent: x\ndata: \n\n");
    assert_read(s.at, "[7|job|{}][7|message|a\nb\nc\nd\n][1|x|]");
    str_done(&s);
}

static void test_read(void **state)
{
    (void)state;
    assert_read("", "");
    assert_read("data: a\n\n", "[|message|a]");
    assert_read("data:a\r\rdata: b\r\n\r\ndata:  c\n\n", "[|message|a][|message|b][|message| c]");
    assert_read("\xef\xbb\xbf"
                "data: a\n\n",
                "[|message|a]");
    assert_read("data\ndata\n\n", "[|message|\n]");
    assert_read("id: 1\ndata: a\n\ndata: b\n\nid\ndata: c\n\n",
                "[1|message|a][1|message|b][|message|c]");
    assert_read("event: e\n\ndata: a\n\n", "[|message|a]");
    assert_read(": comment\nunknown: x\nretry: 5\n data: x\ndata: a\n\n", "[|message|a]");
    assert_read("data: never finished\n", "");
}

static void test_stop(void **state)
{
    (void)state;
    static const char text[] = "data: a\n\ndata: stop\n\ndata: b\n\n";
    struct sse_reader r = {0};
    struct str seen = {0};
    struct err err;
    assert_int_equal(sse_read(&r, text, sizeof text - 1, note, &seen, &err), 9);
    assert_string_equal(seen.at, "[|message|a][|message|stop]");
    str_done(&seen);
    sse_reader_done(&r);
}

static void test_retry(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint64_t want;
    } cases[] = {{"retry: 150\n", 150}, {"retry: \n", 0},     {"retry: -1\n", 0},
                 {"retry: 1x\n", 0},    {"retry:20\n\n", 20}, {"retry: 99999999999999999999\n", 0}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct sse_reader r = {0};
        struct err err;
        assert_ok(sse_read(&r, cases[i].text, strlen(cases[i].text), note, NULL, &err), err);
        assert_true(r.retry_ms == cases[i].want);
        sse_reader_done(&r);
    }
}

static void test_limit(void **state)
{
    (void)state;
    struct sse_reader r = {0};
    struct err err = {0};
    char line[65536] = "data: ";
    int rc = 0;
    memset(line + 6, 'x', sizeof line - 6);
    size_t fed = 0;
    while (!rc && fed < 2 * SSE_EVENT_LIMIT) {
        rc = sse_read(&r, line, sizeof line, note, NULL, &err);
        fed += sizeof line;
    }
    assert_int_equal(rc, -1);
    assert_int_equal(err.code, ERR_LIMIT);
    assert_true(r.line.n <= SSE_EVENT_LIMIT);
    sse_reader_done(&r);
}

static const struct CMUnitTest tests[] = {
    TEST(test_write), TEST(test_read), TEST(test_stop), TEST(test_retry), TEST(test_limit),
};

int main(void)
{
    return RUN(tests);
}
