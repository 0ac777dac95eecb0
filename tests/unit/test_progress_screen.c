/* Tests of the last lines of a text as a terminal shows them. */
#include "progress/screen.h"

#include "support/test.h"

static void assert_shows(const char *text, unsigned lines, const char *expected)
{
    struct str out = {0};
    str_add(&out, "");
    progress_screen_tail(text, strlen(text), lines, &out);
    assert_string_equal(out.at, expected);
    str_done(&out);
}

static void test_lines(void **state)
{
    (void)state;
    assert_shows("a\nb\nc\n", 2, "b\nc\n");
    assert_shows("a\nb\nc", 2, "b\nc\n");
    assert_shows("a\n\nc\n", 2, "\nc\n");
    assert_shows("a\r\nb\r\n", 5, "a\nb\n");
    assert_shows("", 3, "");
    assert_shows("a\nb\n", 0, "");
    assert_shows("[0]\ttrain:0.5\n", 1, "[0]\ttrain:0.5\n");
    assert_shows("\xc3\xa4\xe2\x96\x88\xff\n", 1, "\xc3\xa4\xe2\x96\x88\xff\n");
}

static void test_redrawn(void **state)
{
    (void)state;
    /* A bar of many states is one line. */
    assert_shows("start\n\r 10%|#  |\r 20%|## |\r100%|###|\nend\n", 10, "start\n100%|###|\nend\n");
    /* What is shorter leaves the rest of what was there. */
    assert_shows("abcdef\rxy\n", 1, "xycdef\n");
    assert_shows("abcdef\rxy\x1b[K\n", 1, "xy\n");
    assert_shows("abcdef\r\x1b[2Kxy\n", 1, "xy\n");
    assert_shows(" 12%\b\b\b\b 13%\n", 1, " 13%\n");
    assert_shows("\xe2\x96\x88x\b\by\n", 1, "yx\n");
    /* Two bars, the lower one drawn first. */
    assert_shows("outer 0\n\rinner 1\x1b[A\router 1\n\rinner 2\x1b[A\router 2\n\n", 5,
                 "outer 2\ninner 2\n");
    assert_shows("a\nb\nc\x1b[2A\x1b[Jx\n", 5, "ax\n");
}

static void test_sequences(void **state)
{
    (void)state;
    assert_shows("\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\x1b[?25l\n", 1, "red plain\n");
    assert_shows("a\x1b[3Cb\x1b[1Gc\n", 1, "c   b\n");
    /* Unfinished or absurd ones do no harm. */
    assert_shows("a\x1b", 1, "a\n");
    assert_shows("a\x1b[99999999999Cb\x1b[999999999Ac", 1, "abc\n");
    assert_shows("a\x1b[12;", 1, "a\n");
}

/* Many more rows and redraws than are asked for. */
static void test_long(void **state)
{
    (void)state;
    struct str text = {0}, out = {0};
    for (int i = 0; i < 50000; i++)
        str_addf(&text, "\rstep %d of 50000%s", i, i % 100 == 99 ? "\n" : "");
    progress_screen_tail(text.at, text.n, 2, &out);
    assert_string_equal(out.at, "step 49899 of 50000\nstep 49999 of 50000\n");
    str_done(&text);
    str_done(&out);
}

static const struct CMUnitTest tests[] = {
    TEST(test_lines),
    TEST(test_redrawn),
    TEST(test_sequences),
    TEST(test_long),
};

int main(void)
{
    return RUN(tests);
}
