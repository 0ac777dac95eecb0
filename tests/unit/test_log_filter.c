/* Tests of cli/log_filter: what a terminal gets, whole and in single bytes. */
#include "cli/log_filter.h"

#include "support/test.h"

#define BAD "\xef\xbf\xbd"

static const struct {
    const char *log, *shown;
} cases[] = {
    {"plain\ttext\r\n", "plain\ttext\r\n"},
    {"epoch 1 [==>  ]\b\b\b done", "epoch 1 [==>  ]\b\b\b done"},
    {"\033[31mred\033[0m \033[1;38;5;200mx\033[m \033[38:2:1:2:3my", /* colours */
     "\033[31mred\033[0m \033[1;38;5;200mx\033[m \033[38:2:1:2:3my"},
    {"50%\033[K\r", "50%\033[K\r"},
    {"\033]0;owned\007", "^[]0;owned^G"},             /* the window's title */
    {"\033]52;c;cm0gLXJm\007", "^[]52;c;cm0gLXJm^G"}, /* the clipboard */
    {"\033[2J\033[H", "^[[2J^[[H"},
    {"\033[6n", "^[[6n"}, /* asks the terminal to type something */
    {"\033[?1049h", "^[[?1049h"},
    {"\033P1$r\033\\", "^[P1$r^[\\"},
    {"\033\033[31m", "^[\033[31m"},
    {"\033[1\033[32mx", "^[[1\033[32mx"},
    {"\033[0123456789012345678901234567890123456789m",
     "^[[0123456789012345678901234567890123456789m"},
    {"\001\016\177", "^A^N^?"},
    {"zürich 東京 🚂 █▌", "zürich 東京 🚂 █▌"},
    {"\xc2\x9b"
     "2J",
     BAD "2J"}, /* CSI as one character */
    {"\x9b"
     "2J",
     BAD "2J"}, /* and as one byte */
    {"\xc2\033[31m", BAD "\033[31m"},
    {"\xc2\033]0;x", BAD "^[]0;x"},
    {"\xe6\x9d"
     "a",
     BAD "a"},
    {"\xc0\x9b"
     "x",
     BAD BAD "x"},
    {"\xed\xa0\x80"
     "x",
     BAD "x"},
    {"ends in \033[3", "ends in ^[[3"},
    {"ends in \xe6", "ends in " BAD},
};

static void test_whole(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct log_filter f = {0};
        struct str out = {0};
        log_filter_add(&f, cases[i].log, strlen(cases[i].log), &out);
        log_filter_end(&f, &out);
        assert_string_equal(out.at, cases[i].shown);
        str_done(&out);
    }
}

static void test_bytes(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct log_filter f = {0};
        struct str out = {0};
        for (const char *p = cases[i].log; *p; p++)
            log_filter_add(&f, p, 1, &out);
        log_filter_end(&f, &out);
        assert_string_equal(out.at, cases[i].shown);
        str_done(&out);
    }
}

/* Whatever comes, no control character but the harmless ones goes out, and escape
 * only in front of colours. */
static void test_any(void **state)
{
    (void)state;
    uint32_t seed = 1;
    struct log_filter f = {0};
    struct str out = {0};
    for (int i = 0; i < 200000; i++) {
        static const char often[] = "\033[]0;mKHJ?\007\xc2\x9b\n";
        seed = seed * 1664525 + 1013904223;
        char c = seed >> 31 ? often[(seed >> 16) % (sizeof often - 1)] : (char)(seed >> 20);
        log_filter_add(&f, &c, 1, &out);
    }
    log_filter_end(&f, &out);
    assert_int_equal(str_valid_utf8(out.at), out.n);
    for (size_t i = 0; i < out.n; i++) {
        unsigned char c = (unsigned char)out.at[i];
        assert_true(c >= 0x20 || strchr("\n\r\t\b\033", c));
        if (c == 0x1b) {
            size_t n = strspn(out.at + i + 2, "0123456789;:");
            assert_true(out.at[i + 1] == '[' && strchr("mK", out.at[i + 2 + n]));
        }
    }
    str_done(&out);
}

static const struct CMUnitTest tests[] = {
    TEST(test_whole),
    TEST(test_bytes),
    TEST(test_any),
};

int main(void)
{
    return RUN(tests);
}
