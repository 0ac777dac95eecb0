/* Tests of protocol/relay: messages and parts of the log on one stream. */
#include "protocol/relay.h"

#include "protocol/lines.h"
#include "support/test.h"

static void test_items(void **state)
{
    (void)state;
    static const char text[] = "{\"type\":\"ok\"}\nlog 17 5\na\nb\0clog 22 0\n{}\n";
    static const struct relay_item want[] = {{RELAY_MESSAGE, "{\"type\":\"ok\"}", 13, 0},
                                             {RELAY_LOG, "a\nb\0c", 5, 17},
                                             {RELAY_LOG, "", 0, 22},
                                             {RELAY_MESSAGE, "{}", 2, 0}};
    for (size_t step = 1; step < sizeof text; step++) {
        struct relay r = {0};
        struct relay_item got;
        size_t n = 0;
        for (size_t at = 0; at < sizeof text - 1; at += step) {
            size_t part = sizeof text - 1 - at < step ? sizeof text - 1 - at : step;
            relay_add(&r, text + at, part);
            while (relay_take(&r, &got) > 0) {
                assert_true(n < COUNT_OF(want));
                assert_int_equal(got.kind, want[n].kind);
                assert_int_equal(got.n, want[n].n);
                assert_int_equal(got.offset, want[n].offset);
                assert_memory_equal(got.bytes, want[n].bytes, got.n);
                n++;
            }
        }
        assert_int_equal(n, COUNT_OF(want));
        relay_done(&r);
    }
}

static void test_garbage(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "hello\n",       "log\n",     "log 1\n",    "log 1 2 3\n", "log -1 2\n",
        "log 1 32769\n", "log 1 x\n", "log  1 2\n", "\n",          "log 1234567890123456789 1\n"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct relay r = {0};
        struct relay_item got;
        relay_add(&r, bad[i], strlen(bad[i]));
        assert_int_equal(relay_take(&r, &got), -1);
        relay_done(&r);
    }
}

static void test_a_line_without_end(void **state)
{
    (void)state;
    struct relay r = {0};
    struct relay_item got;
    AUTO_FREE char *text = xmalloc(MESSAGE_MAX_BYTES);
    memset(text, '{', MESSAGE_MAX_BYTES);
    relay_add(&r, text, MESSAGE_MAX_BYTES - 1);
    assert_int_equal(relay_take(&r, &got), 0);
    relay_add(&r, text, 1);
    assert_int_equal(relay_take(&r, &got), -1);
    relay_done(&r);
}

static void test_written_as_read(void **state)
{
    (void)state;
    struct relay r = {0};
    struct relay_item got;
    struct str s = {0};
    relay_add_log(&s, 1LL << 50, 3);
    str_add(&s, "xyz");
    relay_add(&r, s.at, s.n);
    assert_int_equal(relay_take(&r, &got), 1);
    assert_true(got.offset == 1LL << 50 && got.n == 3);
    assert_int_equal(relay_take(&r, &got), 0);
    str_done(&s);
    relay_done(&r);
}

static const struct CMUnitTest tests[] = {TEST(test_items), TEST(test_garbage),
                                          TEST(test_a_line_without_end),
                                          TEST(test_written_as_read)};

int main(void)
{
    return RUN(tests);
}
