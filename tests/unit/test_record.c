/* Structs as JSON objects: what is written, what is read, what is said of bad ones. */
#include "base/record.h"

#include <jansson.h>
#include <math.h>

#include "support/test.h"

enum colour { RED, GREEN };

struct point {
    int32_t x, y;
};

struct sample {
    int64_t whole;
    double number;
    const char *text, *path;
    char chars[8];
    usec_t span, time;
    bool flag;
    enum colour colour;
    const char **texts, **pairs;
    struct field_numbers numbers;
    struct point point, flat;
    struct {
        struct point *at;
        size_t n;
    } list;
};

#define AT(member) offsetof(struct sample, member)

/* clang-format off */
static const struct field point_members[] = {
    {"x", FIELD_I32, offsetof(struct point, x), 0, 9, NULL},
    {"y", FIELD_I32 | FIELD_OPTIONAL, offsetof(struct point, y), 0, 9, NULL},
    {0},
};
static const struct point point_defaults = {.y = 5};
static const struct record point_record = {point_members, sizeof(struct point), &point_defaults};

static const struct field members[] = {
    {"whole", FIELD_I64, AT(whole), -3, 3, NULL},
    {"number", FIELD_NUMBER | FIELD_OPTIONAL, AT(number), 0, 0, NULL},
    {"text", FIELD_TEXT | FIELD_OPTIONAL, AT(text), 0, 4, NULL},
    {"path", FIELD_PATH | FIELD_OPTIONAL, AT(path), 0, 0, NULL},
    {"chars", FIELD_CHARS | FIELD_OPTIONAL, AT(chars), 0, 8, NULL},
    {"span_s", FIELD_SECONDS | FIELD_OPTIONAL, AT(span), 0, 0, NULL},
    {"time", FIELD_TIME | FIELD_OPTIONAL, AT(time), 0, 0, NULL},
    {"flag", FIELD_FLAG | FIELD_OPTIONAL, AT(flag), 0, 0, NULL},
    {"colour", FIELD_WORD | FIELD_OPTIONAL, AT(colour), 0, 0, "red|green"},
    {"texts", FIELD_TEXTS | FIELD_OPTIONAL, AT(texts), 0, 0, NULL},
    {"pairs", FIELD_PAIRS | FIELD_OPTIONAL, AT(pairs), 0, 0, NULL},
    {"numbers", FIELD_NUMBERS | FIELD_OPTIONAL, AT(numbers), 0, 0, NULL},
    {"point", FIELD_OBJECT | FIELD_OPTIONAL, AT(point), 0, 0, &point_record},
    {"flat", FIELD_INLINE, AT(flat), 0, 0, &point_record},
    {"list", FIELD_LIST | FIELD_OPTIONAL, AT(list), 0, 0, &point_record},
    {0},
};
/* clang-format on */

#define DEFAULTS                                                                                   \
    {                                                                                              \
        .number = FIELD_UNKNOWN, .span = USEC_NEVER, .point = {.y = 5 }                            \
    }
static const struct sample defaults = DEFAULTS;
static const struct record record = {members, sizeof(struct sample), &defaults};

static const char *encode(const struct sample *s)
{
    static char text[1024];
    struct str out = {0};
    record_encode(&record, s, &out);
    snprintf(text, sizeof text, "%s", out.at);
    str_done(&out);
    return text;
}

static int decode(const char *text, struct arena *a, struct sample *out, struct err *err)
{
    json_t *object = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(object);
    int rc = record_decode(&record, object, a, out, err);
    json_decref(object);
    return rc;
}

static void all_members(void **state)
{
    (void)state;
    static const char text[] =
        "{\"whole\":-3,\"number\":0.1,\"text\":\"a\\\"b\",\"path\":\"/p\",\"chars\":\"1234567\","
        "\"span_s\":1.5,\"time\":7,\"flag\":true,\"colour\":\"green\",\"texts\":[\"t\",\"\"],"
        "\"pairs\":{\"K\":\"v=1\",\"E\":\"\"},\"numbers\":{\"n\":\"nan\",\"i\":\"-inf\",\"z\":0},"
        "\"point\":{\"x\":1,\"y\":2},\"x\":3,\"list\":[{\"x\":4},{\"x\":5,\"y\":6}]}";
    struct arena a = {0};
    struct sample s, again;
    struct err e;
    assert_ok(decode(text, &a, &s, &e), e);
    assert_string_equal(encode(&s), text);
    assert_int_equal(s.span, 1500000);
    assert_string_equal(s.pairs[0], "K=v=1");
    assert_string_equal(s.pairs[1], "E=");
    assert_null(s.pairs[2]);
    assert_true(isnan(s.numbers.at[0].value) && isinf(s.numbers.at[1].value));
    assert_int_equal(s.flat.y, 5);
    assert_int_equal(s.list.n, 2);
    assert_int_equal(s.list.at[0].y, 5);
    assert_ok(decode(text, &a, &again, &e), e);
    assert_true(record_equal(&record, &s, &again));
    again.list.at[1].y = 7;
    assert_false(record_equal(&record, &s, &again));
    arena_done(&a);
}

static void absent_members(void **state)
{
    (void)state;
    struct arena a = {0};
    struct sample s, all_null;
    struct err e;
    assert_ok(decode("{\"whole\":0,\"x\":1}", &a, &s, &e), e);
    assert_string_equal(encode(&s), "{\"whole\":0,\"x\":1}");
    assert_true(isnan(s.number) && s.span == USEC_NEVER && !s.text && s.flat.y == 5);
    assert_ok(
        decode("{\"whole\":0,\"x\":1,\"y\":null,\"number\":null,\"text\":null,\"span_s\":null,"
               "\"chars\":null,\"texts\":null,\"point\":null,\"list\":null,\"more\":[]}",
               &a, &all_null, &e),
        e);
    assert_true(record_equal(&record, &s, &all_null));
    /* A NaN that was said is not one that is unknown. */
    s.number = NAN;
    assert_string_equal(encode(&s), "{\"whole\":0,\"number\":\"nan\",\"x\":1}");
    /* Neither is a list that is empty said. */
    s.number = FIELD_UNKNOWN;
    s.texts = (const char *[]){NULL};
    assert_string_equal(encode(&s), "{\"whole\":0,\"x\":1}");
    arena_done(&a);
}

static void bad_members(void **state)
{
    (void)state;
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"7", "it must be one JSON object"},
        {"{\"x\":1}", "whole is missing"},
        {"{\"whole\":0}", "x is missing"},
        {"{\"whole\":4,\"x\":1}", "whole must be a whole number from -3 to 3"},
        {"{\"whole\":null,\"x\":1}", "whole must be a whole number"},
        {"{\"whole\":0,\"x\":1,\"text\":\"12345\"}", "text must be a string of at most 4 bytes"},
        {"{\"whole\":0,\"x\":1,\"path\":\"p\"}", "path must be an absolute path"},
        {"{\"whole\":0,\"x\":1,\"chars\":1}", "chars must be a string"},
        {"{\"whole\":0,\"x\":1,\"span_s\":-1}", "span_s must be a number of seconds"},
        {"{\"whole\":0,\"x\":1,\"span_s\":1e300}", "span_s must be a number of seconds"},
        {"{\"whole\":0,\"x\":1,\"colour\":\"blue\"}", "colour must be one of red|green"},
        {"{\"whole\":0,\"x\":1,\"texts\":{}}", "texts must be a list of strings"},
        {"{\"whole\":0,\"x\":1,\"texts\":[\"a\",1]}", "texts[1] must be a string"},
        {"{\"whole\":0,\"x\":1,\"pairs\":[]}", "pairs must be an object of strings"},
        {"{\"whole\":0,\"x\":1,\"pairs\":{\"A=B\":\"\"}}", "pairs: 'A=B' cannot be a name"},
        {"{\"whole\":0,\"x\":1,\"pairs\":{\"A\":1}}", "pairs.A must be a string"},
        {"{\"whole\":0,\"x\":1,\"numbers\":{\"a\":\"b\"}}", "numbers must be a number"},
        {"{\"whole\":0,\"x\":1,\"numbers\":[]}", "numbers must be an object of numbers"},
        {"{\"whole\":0,\"x\":1,\"point\":1}", "point must be an object"},
        {"{\"whole\":0,\"x\":1,\"point\":{\"y\":1}}", "point.x is missing"},
        {"{\"whole\":0,\"x\":1,\"list\":{}}", "list must be a list of objects"},
        {"{\"whole\":0,\"x\":1,\"list\":[{\"x\":1},{\"x\":99}]}", "list[1].x must be a whole"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct arena a = {0};
        struct sample s = {.whole = 77};
        struct err e;
        assert_error(decode(cases[i].text, &a, &s, &e), e, ERR_INVALID, cases[i].problem);
        assert_int_equal(s.whole, 77);
        arena_done(&a);
    }
}

/* What is for people is cut, at the end of a letter. */
static void long_texts(void **state)
{
    (void)state;
    static const struct {
        const char *text, *kept;
    } cases[] = {
        {"12345678", "1234567"},
        {"123456\u20ac", "123456"},
        {"1234\u20acx", "1234\u20ac"},
        {"\u20ac\u20ac\u20ac", "\u20ac\u20ac"},
    };
    struct arena a = {0};
    struct sample s;
    struct err e;
    struct str text = {0};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        text.n = 0;
        str_addf(&text, "{\"whole\":0,\"x\":1,\"chars\":\"%s\"}", cases[i].text);
        assert_ok(decode(text.at, &a, &s, &e), e);
        assert_string_equal(s.chars, cases[i].kept);
    }
    text.n = 0;
    str_add(&text, "{\"whole\":0,\"x\":1,\"numbers\":{");
    for (int i = 0; i < 20; i++)
        str_addf(&text, "%s\"%d234567890123456789012345678901234567890\":%d", i ? "," : "", i, i);
    str_add(&text, "}}");
    assert_ok(decode(text.at, &a, &s, &e), e);
    assert_int_equal(s.numbers.n, FIELD_NUMBERS_MAX);
    assert_string_equal(s.numbers.at[0].name, "0234567890123456789012345678901");
    str_done(&text);
    arena_done(&a);
}

static void unknown_members_are_named(void **state)
{
    (void)state;
    json_t *object = json_loads("{\"whole\":0,\"blue\":1,\"y\":1,\"flat\":{}}", 0, NULL);
    struct str out = {0};
    record_name_unknown(&record, object, &out);
    assert_string_equal(out.at, "blue flat");
    str_done(&out);
    json_decref(object);
}

static void shortest_numbers(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0.1, "0.1"},
                 {1, "1"},
                 {-2.5, "-2.5"},
                 {1e300, "1e+300"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "4.94065645841247e-324"}};
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        static const struct field f = {.name = "", .type = FIELD_NUMBER};
        struct str out = {0};
        fields_add_value(&f, &cases[i].value, &out);
        assert_string_equal(out.at, cases[i].text);
        assert_true(strtod(out.at, NULL) == cases[i].value);
        str_done(&out);
    }
}

static const struct CMUnitTest tests[] = {
    TEST(all_members),
    TEST(absent_members),
    TEST(bad_members),
    TEST(long_texts),
    TEST(unknown_members_are_named),
    TEST(shortest_numbers),
};

int main(void)
{
    return RUN(tests);
}
