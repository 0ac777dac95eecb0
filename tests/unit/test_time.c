/* Tests of base/time: durations as people write and read them. */
#include "base/time.h"

#include "support/test.h"

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        usec_t want;
    } good[] = {
        {"0", 0},
        {"90", 90 * USEC_PER_SEC},
        {"90s", 90 * USEC_PER_SEC},
        {"1.5h", 5400 * USEC_PER_SEC},
        {"2d4h30m", (2 * 86400 + 4 * 3600 + 30 * 60) * USEC_PER_SEC},
        {"15m", 900 * USEC_PER_SEC},
        {"1h10min", 4200 * USEC_PER_SEC},
        {"250ms", 250000},
        {"7us", 7},
        {"1m500ms", 60 * USEC_PER_SEC + 500000},
        {".5", 500000},
        {"5.", 5 * USEC_PER_SEC},
        {"1e3", 1000 * USEC_PER_SEC},
        {"0.0000004", 0},
        {"0.0000006", 1},
        {"365d", 365LL * 86400 * USEC_PER_SEC},
    };
    for (size_t i = 0; i < COUNT_OF(good); i++) {
        usec_t t = -1;
        struct err err;
        assert_ok(time_parse(good[i].text, &t, &err), err);
        assert_int_equal(t, good[i].want);
    }
}

static void test_parse_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",    "s",   "h2",  "-5",   "+5",   " 5", "5 ",  "5 s", "5x",   "5S",    "5mins",
        "1h-", "nan", "inf", "0x10", "0X10", ".",  "1hh", "1,5", "2h30", "1d2h3", "1h 30m"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        usec_t t = 77;
        struct err err = {0};
        assert_error(time_parse(bad[i], &t, &err), err, ERR_INVALID, "is not a duration");
        assert_int_equal(t, 77);
    }
}

static void test_parse_out_of_range(void **state)
{
    (void)state;
    static const char *const bad[] = {"1e300", "1e400", "9999999d", "1e10s"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        usec_t t = 77;
        struct err err;
        assert_error(time_parse(bad[i], &t, &err), err, ERR_INVALID, "above 290 years");
        assert_int_equal(t, 77);
    }
}

static void test_from_seconds(void **state)
{
    (void)state;
    usec_t t = 77;
    assert_int_equal(time_from_seconds(1.0000005, &t), 0);
    assert_int_equal(t, 1000001);
    assert_int_equal(time_from_seconds(-2, &t), 0);
    assert_int_equal(t, -2 * USEC_PER_SEC);
    assert_int_equal(time_from_seconds(9e9, &t), 0);
    assert_int_equal(t, 9000000000LL * USEC_PER_SEC);
    t = 77;
    assert_int_equal(time_from_seconds(9.3e9, &t), -1);
    assert_int_equal(time_from_seconds(-9.3e9, &t), -1);
    assert_int_equal(time_from_seconds(NAN, &t), -1);
    assert_int_equal(time_from_seconds(INFINITY, &t), -1);
    assert_int_equal(t, 77);
}

static void test_limit_leaves_room(void **state)
{
    (void)state;
    assert_true(USEC_LIMIT < USEC_NEVER / 999);
    assert_near(time_seconds(1500000), 1.5, 0);
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        usec_t t;
        const char *want;
    } rows[] = {
        {0, "0ms"},
        {417000, "417ms"},
        {999999, "999ms"},
        {USEC_PER_SEC, "1.0s"},
        {12345678, "12.3s"},
        {59999999, "59.9s"},
        {60 * USEC_PER_SEC, "1m00s"},
        {247 * USEC_PER_SEC, "4m07s"},
        {3599999999LL, "59m59s"},
        {11100 * USEC_PER_SEC, "3h05m"},
        {86399 * USEC_PER_SEC, "23h59m"},
        {187200 * USEC_PER_SEC, "2d04h"},
        {-12300000, "-12.3s"},
        {USEC_NEVER, "never"},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char buf[32];
        assert_ptr_equal(time_format(rows[i].t, buf, sizeof buf), buf);
        assert_string_equal(buf, rows[i].want);
    }
}

static void test_format_extremes(void **state)
{
    (void)state;
    char buf[32], small[4];
    assert_string_equal(time_format(INT64_MIN, buf, sizeof buf), "-106751991d04h");
    assert_string_equal(time_format(INT64_MAX - 1, buf, sizeof buf), "106751991d04h");
    assert_string_equal(time_format(12345678, small, sizeof small), "12.");
}

static const struct CMUnitTest tests[] = {
    TEST(test_parse),           TEST(test_parse_refused),     TEST(test_parse_out_of_range),
    TEST(test_from_seconds),    TEST(test_limit_leaves_room), TEST(test_format),
    TEST(test_format_extremes),
};

int main(void)
{
    return RUN(tests);
}
