/* Tests of sweeps: values, combinations, what stands for them in a command. */
#include "wire/sweep.h"

#include "support/test.h"

static uint32_t count_of(const struct spec_list *sweep)
{
    struct err err;
    uint32_t n = 0;
    assert_ok(sweep_count(sweep, &n, &err), err);
    return n;
}

/* All values of one parameter, separated by blanks. */
static void assert_values(const char *parameter, const char *want)
{
    const char *one[] = {parameter};
    struct spec_list sweep = {one, 1};
    struct str got = {0};
    uint32_t n = count_of(&sweep);
    for (uint32_t k = 0; k < n; k++) {
        sweep_value(&sweep, 0, k, &got);
        str_add(&got, " ");
    }
    assert_string_equal(got.at, want);
    str_done(&got);
}

static void test_values(void **state)
{
    (void)state;
    assert_values("lr=0.1,0.01", "0.1 0.01 ");
    assert_values("lr=1e-3", "1e-3 ");
    assert_values("bs=32..256:x2", "32 64 128 256 ");
    assert_values("lr=0.0001..0.1:x10", "0.0001 0.001 0.01 0.1 ");
    assert_values("n=1..4", "1 2 3 4 ");
    assert_values("n=1..8:3", "1 4 7 ");
    assert_values("n=1..8:+3", "1 4 7 ");
    assert_values("p=0..1:0.1", "0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 ");
    assert_values("n=-2..2:2", "-2 0 2 ");
    assert_values("n=5..5", "5 ");
    assert_values("dir=../data", "../data ");
    assert_values("v=1..2,3..4", "1..2 3..4 ");
    assert_values("opt=adam,sgd with spaces,a=b", "adam sgd with spaces a=b ");
}

static void test_bad(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"lr=", "no values"},
        {"lr=1,,2", "is empty"},
        {"lr=,1", "is empty"},
        {"lr=1,", "is empty"},
        {"n=1..", "expected LOW..HIGH"},
        {"n=1..x", "expected LOW"},
        {"n=4..1", "range is empty"},
        {"n=1..4:0", "above 0"},
        {"n=1..4:-1", "above 0"},
        {"n=1..4:x1", "above 1"},
        {"n=0..4:x2", "begins above 0"},
        {"n=1..4:", "expected LOW"},
        {"a b=1", "letters, digits"},
        {"n=1..1000000", "more than 100000"},
        {"n=1..1e300:1e-300", "the range is empty"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct spec_list sweep = {(const char *[]){bad[i].text}, 1};
        struct err err;
        uint32_t n = 7;
        assert_error(sweep_count(&sweep, &n, &err), err, ERR_INVALID, bad[i].why);
        assert_int_equal(n, 7);
    }
    const char *million[] = {"a=1..1000", "b=1..1000"};
    struct spec_list sweep = {million, 2};
    struct err err;
    uint32_t n;
    assert_error(sweep_count(&sweep, &n, &err), err, ERR_INVALID, "more than 100000 combinations");
}

/* The last parameter changes fastest; other braces stay as they are. */
static void test_combinations(void **state)
{
    const char *two[] = {"lr=0.1,0.01", "bs=32..128:x2"};
    const char *words[] = {"train.py", "--lr={lr}", "{bs}/{lr}", "{\"lr\":1}{other}{", ""};
    const char *want[] = {"train.py", "--lr=0.01", "64/0.01", "{\"lr\":1}{other}{", ""};
    struct spec_list sweep = {two, 2}, list = {words, COUNT_OF(words)};
    struct arena a = {0};
    (void)state;
    assert_int_equal(count_of(&sweep), 6);
    struct spec_list filled = sweep_fill_list(&sweep, 4, &list, &a);
    assert_int_equal(filled.n, list.n);
    for (uint32_t i = 0; i < filled.n; i++)
        assert_string_equal(filled.at[i], want[i]);
    assert_true(sweep_uses(&sweep, 0, words[1]) && !sweep_uses(&sweep, 1, words[1]));
    assert_true(sweep_uses(&sweep, 1, words[2]) && !sweep_uses(&sweep, 0, words[3]));
    arena_done(&a);
}

static const struct CMUnitTest tests[] = {
    TEST(test_values),
    TEST(test_bad),
    TEST(test_combinations),
};

int main(void)
{
    return RUN(tests);
}
