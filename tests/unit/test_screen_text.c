/* Tests of cli/screen_text: what is escaped, how wide text is, where it is cut. */
#include "cli/screen_text.h"

#include "support/test.h"

static void test_safe(void **state)
{
    (void)state;
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"", ""},
        {"train-1 ok", "train-1 ok"},
        {"zürich 東京 🚂", "zürich 東京 🚂"},
        {"\033]0;title\007", "\\x1b]0;title\\x07"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\x7f", "\\x7f"},
        {"\xc2\x9b"
         "31m",
         "\\u{9b}31m"}, /* a C1 control character */
        {"\xe2\x80\xae"
         "cod.exe",
         "\\u{202e}cod.exe"}, /* turns the line around */
        {"\xe2\x80\x8b", "\\u{200b}"},
        {"\xff\x9b"
         "a",
         "\xef\xbf\xbd\xef\xbf\xbd"
         "a"}, /* no UTF-8 */
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str out = {0};
        screen_add(&out, cases[i].text);
        assert_string_equal(out.at, cases[i].shown);
        str_done(&out);
    }
}

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(screen_width(""), 0);
    assert_int_equal(screen_width("abc"), 3);
    assert_int_equal(screen_width("zürich"), 6);
    assert_int_equal(screen_width("東京"), 4);
    assert_int_equal(screen_width("🚂"), 2);
    assert_int_equal(screen_width("e\xcc\x81"), 1); /* a combining accent */
    assert_int_equal(screen_width("█▌░"), 3);
}

static void test_cut(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
        const char *shown;
        size_t used;
    } cases[] = {
        {"abcdef", 6, "abcdef", 6}, {"abcdef", 5, "abcd…", 5},
        {"abcdef", 1, "…", 1},      {"abcdef", 0, "", 0},
        {"東京都", 6, "東京都", 6}, {"東京都", 5, "東京…", 5},
        {"東京都", 4, "東…", 3},    {"", 3, "", 0},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct str out = {0};
        str_add(&out, "");
        assert_int_equal(screen_add_cut(&out, cases[i].text, cases[i].width), cases[i].used);
        assert_string_equal(out.at, cases[i].shown);
        str_done(&out);
    }
}

static void test_filled(void **state)
{
    (void)state;
    struct str out = {0};
    screen_add_filled(&out, "it waits for two\nCPUs   of node a", " 1. ", 16);
    assert_string_equal(out.at, " 1. it waits for\n    two\\nCPUs of\n    node a\n");
    str_done(&out);
    screen_add_filled(&out, "any width", "- ", 0);
    screen_add_filled(&out, "unbreakable", "- ", 4);
    screen_add_filled(&out, "", "- ", 4);
    assert_string_equal(out.at, "- any width\n- unbreakable\n- \n");
    str_done(&out);
}

static const struct CMUnitTest tests[] = {
    TEST(test_safe),
    TEST(test_width),
    TEST(test_cut),
    TEST(test_filled),
};

int main(void)
{
    return RUN(tests);
}
