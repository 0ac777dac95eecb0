/* Tests of http/range: byte ranges. */
#include "http/range.h"

#include "support/test.h"

static void assert_part(const char *header, uint64_t size, uint64_t first, uint64_t n)
{
    uint64_t got_first = 0, got_n = 0;
    if (http_range_parse(header, size, &got_first, &got_n) != HTTP_RANGE_PART)
        fail_msg("'%s' is no part", header);
    assert_true(got_first == first && got_n == n);
    assert_true(got_n > 0 && got_first + got_n <= size);
}

static void test_parts(void **state)
{
    (void)state;
    assert_part("bytes=0-0", 100, 0, 1);
    assert_part("bytes=0-99", 100, 0, 100);
    assert_part("bytes=0-100", 100, 0, 100);
    assert_part("bytes=99-", 100, 99, 1);
    assert_part("bytes=-1", 100, 99, 1);
    assert_part("bytes=-100", 100, 0, 100);
    assert_part("bytes=-101", 100, 0, 100);
    assert_part("Bytes = 5-6 ", 100, 5, 2);
    assert_part("bytes=5- ", 100, 5, 95);
    assert_part("bytes=1-99999999999999999999999", 100, 1, 99);
    assert_part("bytes=-99999999999999999999999", 100, 0, 100);
    assert_part("bytes=18446744073709551613-", UINT64_MAX, UINT64_MAX - 2, 2);
}

static void test_others(void **state)
{
    (void)state;
    static const char *const ignored[] = {
        "",          "bytes",      "bytes=",    "bytes=-",       "bytes=a-b",
        "bytes=1",   "bytes=1-x",  "bytes=2-1", "bytes=0-1,3-4", "lines=0-1",
        "bytes 0-1", "bytes=0-1x", "bytes=--1", "byte=0-1",      "bytes=0x1-2",
    };
    static const char *const nothing[] = {"bytes=100-", "bytes=100-200", "bytes=-0",
                                          "bytes=99999999999999999999999-"};
    uint64_t first = 7, n = 7;
    assert_int_equal(http_range_parse(NULL, 100, &first, &n), HTTP_RANGE_WHOLE);
    for (size_t i = 0; i < COUNT_OF(ignored); i++)
        assert_int_equal(http_range_parse(ignored[i], 100, &first, &n), HTTP_RANGE_WHOLE);
    for (size_t i = 0; i < COUNT_OF(nothing); i++)
        assert_int_equal(http_range_parse(nothing[i], 100, &first, &n), HTTP_RANGE_NONE);
    assert_int_equal(http_range_parse("bytes=0-", 0, &first, &n), HTTP_RANGE_NONE);
    assert_int_equal(http_range_parse("bytes=-5", 0, &first, &n), HTTP_RANGE_NONE);
    assert_true(first == 7 && n == 7);
}

static const struct CMUnitTest tests[] = {
    TEST(test_parts),
    TEST(test_others),
};

int main(void)
{
    return RUN(tests);
}
