/* Rules by which files are left out of an upload. */
#include "cli/ignore.h"
#include "support/test.h"

static void test_globs(void **state)
{
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"a", "a", true},         {"a", "ab", false},
        {"*.c", "x.c", true},     {"*.c", "d/x.c", false},
        {"**/*.c", "x.c", true},  {"**/*.c", "d/e/x.c", true},
        {"a/**", "a/b/c", true},  {"a/**", "a", false},
        {"a/**/z", "a/z", true},  {"a/**/z", "a/b/c/z", true},
        {"a/**/z", "b/z", false}, {"[ab]?", "bx", true},
        {"[ab]?", "cx", false},   {"*", "", false},
        {"", "a", false},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        if (ignore_glob(cases[i].pattern, cases[i].path) != cases[i].matches)
            fail_msg("%s against %s", cases[i].pattern, cases[i].path);
}

static void test_git(void **state)
{
    struct ignore g = {.kind = IGNORE_GIT};
    (void)state;
    ignore_add(&g, "", "# comment\n\n*.o\n/build\nlog/\n!keep.o  \r\n");
    ignore_add(&g, "src", "gen\n/only\n");
    assert_true(ignore_matches(&g, "a/b.o", false));
    assert_false(ignore_matches(&g, "a/keep.o", false));
    assert_true(ignore_matches(&g, "build", true));
    assert_false(ignore_matches(&g, "a/build", true));
    assert_true(ignore_matches(&g, "a/log", true));
    assert_false(ignore_matches(&g, "a/log", false));
    assert_true(ignore_matches(&g, "src/x/gen", false));
    assert_false(ignore_matches(&g, "gen", false));
    assert_true(ignore_matches(&g, "src/only", false));
    assert_false(ignore_matches(&g, "src/x/only", false));
    ignore_done(&g);
}

static void test_docker(void **state)
{
    struct ignore g = {.kind = IGNORE_DOCKER};
    (void)state;
    ignore_add(&g, "", "data\n**/*.pyc\n!data/small/\n/x\n./y");
    assert_true(ignore_matches(&g, "data/big/file", false));
    assert_false(ignore_matches(&g, "data/small/file", false));
    assert_false(ignore_matches(&g, "src/data", true));
    assert_true(ignore_matches(&g, "src/a.pyc", false));
    assert_true(ignore_matches(&g, "x", false));
    assert_true(ignore_matches(&g, "y", false));
    ignore_done(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_globs),
        cmocka_unit_test(test_git),
        cmocka_unit_test(test_docker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
