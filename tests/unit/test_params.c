/* Tests of policy/params: the spelling of each type, its range, and that all that
 * is declared can be parsed. */
#include "policy/params.h"

#include "policy/policies.h"
#include "policy/registry.h"
#include "support/test.h"

static const struct param number = {"beta", PARAM_NUMBER, "2", 1, 1000, NULL, "a number"};
static const struct param percent = {"alpha", PARAM_PERCENT, "5%", 0, 100, NULL, "a share"};
static const struct param duration = {"itval", PARAM_DURATION, "20s", 1, 3600, NULL, "a time"};
static const struct param choice = {"order", PARAM_CHOICE, "skip", 0, 0, "strict|skip|back", "one"};
static const struct param list = {"thresholds", PARAM_LIST, "3600", 1, 1e6, NULL, "numbers"};
static const struct param numbers = {"prices", PARAM_NUMBERS, "1", 1, 1e6, NULL, "in any order"};

static double parsed(const struct param *p, const char *text)
{
    struct param_value v = {.number = NAN};
    struct err err;
    assert_ok(param_parse(p, text, &v, &err), err);
    return v.number;
}

/* The value must be refused with these words, and left as it was. */
static void refuse(const struct param *p, const char *text, const char *words)
{
    struct param_value v = {.number = 42, .list = {42}, .n = 1};
    struct err err;
    assert_error(param_parse(p, text, &v, &err), err, ERR_INVALID, words);
    assert_true(strstr(err.text, p->name) != NULL);
    assert_near(v.number, 42, 0);
    assert_near(v.list[0], 42, 0);
    assert_int_equal(v.n, 1);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_near(parsed(&number, "1"), 1, 0);
    assert_near(parsed(&number, "2.5"), 2.5, 0);
    assert_near(parsed(&number, "1e3"), 1000, 0);
    static const char *const bad[] = {"0.99", "1001", "-1", "", "two", "2x", "nan", "inf", " 2"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        refuse(&number, bad[i], "");
}

static void test_percentages(void **state)
{
    (void)state;
    assert_near(parsed(&percent, "5%"), 0.05, 0);
    assert_near(parsed(&percent, "5"), 0.05, 0);
    assert_near(parsed(&percent, "0"), 0, 0);
    assert_near(parsed(&percent, "100%"), 1, 0);
    static const char *const bad[] = {"101", "-1%", "%", "", "5%%", "0.05x"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        refuse(&percent, bad[i], "");
    refuse(&percent, "1111111111111111111111111111111111111%", "not a percentage");
}

static void test_durations(void **state)
{
    (void)state;
    assert_near(parsed(&duration, "20"), 20e6, 0);
    assert_near(parsed(&duration, "1h"), 3600e6, 0);
    assert_near(parsed(&duration, "1.5m"), 90e6, 0);
    refuse(&duration, "0", "not between 1 s and 3600 s");
    refuse(&duration, "61m", "not between 1 s and 3600 s");
    refuse(&duration, "-5s", "");
    refuse(&duration, "soon", "");
    refuse(&duration, "", "");
}

static void test_choices(void **state)
{
    (void)state;
    assert_near(parsed(&choice, "strict"), 0, 0);
    assert_near(parsed(&choice, "skip"), 1, 0);
    assert_near(parsed(&choice, "back"), 2, 0);
    static const char *const bad[] = {"", "stric", "stricter", "strict|skip", "|", "Skip"};
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        refuse(&choice, bad[i], "expected one of strict|skip|back");
}

static void test_lists(void **state)
{
    (void)state;
    struct param_value v;
    struct err err;
    assert_ok(param_parse(&list, "1", &v, &err), err);
    assert_int_equal(v.n, 1);
    assert_ok(param_parse(&list, "1/2.5/1e6", &v, &err), err);
    assert_int_equal(v.n, 3);
    assert_near(v.list[1], 2.5, 0);
    assert_near(v.list[2], 1e6, 0);
    assert_ok(param_parse(&list, "1/2/3/4/5/6/7/8", &v, &err), err);
    assert_int_equal(v.n, PARAM_LIST_MAX);
    refuse(&list, "1/2/3/4/5/6/7/8/9", "more than 8 numbers");
    refuse(&list, "2/1", "the numbers must increase");
    assert_ok(param_parse(&numbers, "2/1/2", &v, &err), err);
    assert_int_equal(v.n, 3);
    assert_near(v.list[1], 1, 0);
    refuse(&list, "2/2", "the numbers must increase");
    refuse(&list, "", "");
    refuse(&list, "1/", "");
    refuse(&list, "/1", "");
    refuse(&list, "1//2", "");
    refuse(&list, "0.5", "");
    refuse(&list, "1/2000000", "");
    refuse(&list, "1.0000000000000000000000000000001/2", "is too long"); /* not 1/1/2 */
}

static void test_find(void **state)
{
    (void)state;
    const struct param declared[] = {number, percent, {0}};
    assert_int_equal(params_find(declared, "beta", 4), 0);
    assert_int_equal(params_find(declared, "alpha=5", 5), 1);
    assert_int_equal(params_find(declared, "alph", 4), -1);
    assert_int_equal(params_find(declared, "alphax", 6), -1);
    assert_int_equal(params_find(declared, "", 0), -1);
    assert_int_equal(params_find(NULL, "alpha", 5), -1);
}

static void test_describe(void **state)
{
    (void)state;
    static const struct {
        const struct param *p;
        const char *text;
    } cases[] = {
        {&number, "beta=2 (number from 1 to 1000)"},
        {&percent, "alpha=5% (percentage from 0 to 100)"},
        {&duration, "itval=20s (duration from 1 s to 3600 s)"},
        {&choice, "order=skip (one of strict|skip|back)"},
        {&list, "thresholds=3600 (up to 8 increasing numbers from 1 to 1e+06, separated by /)"},
    };
    char text[160];
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        param_describe(cases[i].p, text, sizeof text);
        assert_string_equal(text, cases[i].text);
    }
    param_describe(&list, text, 8); /* too small: cut, not overrun */
    assert_string_equal(text, "thresho");
}

/* Every default of every policy is legal, and there is room for all of them. */
static void test_declarations(void **state)
{
    (void)state;
    for (size_t i = 0; policies[i]; i++) {
        const struct param *p = policies[i]->params;
        size_t n = 0;
        for (; p && p[n].name; n++) {
            struct param_value v;
            struct err err;
            assert_ok(param_parse(&p[n], p[n].preset, &v, &err), err);
            assert_true(p[n].help && *p[n].help);
            assert_true((p[n].type == PARAM_CHOICE) == (p[n].choices != NULL));
            assert_true(p[n].type == PARAM_CHOICE || p[n].lo < p[n].hi);
            assert_int_equal(params_find(p, p[n].name, strlen(p[n].name)), n);
        }
        assert_in_range(n, 0, PARAMS_MAX);
    }
}

static void test_defaults(void **state)
{
    (void)state;
    const struct param declared[] = {number, percent, duration, choice, list, {0}};
    struct params p;
    params_default(declared, &p);
    assert_near(p.v[0].number, 2, 0);
    assert_near(p.v[1].number, 0.05, 0);
    assert_int_equal(param_usec(&p, 2), 20000000);
    assert_near(p.v[3].number, 1, 0);
    assert_near(p.v[4].list[0], 3600, 0);
    params_default(NULL, &p);
    assert_near(p.v[0].number, 0, 0);
}

static const struct CMUnitTest tests[] = {
    TEST(test_numbers),  TEST(test_percentages),  TEST(test_durations),
    TEST(test_choices),  TEST(test_lists),        TEST(test_find),
    TEST(test_describe), TEST(test_declarations), TEST(test_defaults),
};

int main(void)
{
    return RUN(tests);
}
