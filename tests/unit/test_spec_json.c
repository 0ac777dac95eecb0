/* Owns the tests of job requests as JSON: what is read, what is refused, and that
 * what is written reads back as the same request. */
#include "support/test.h"

#include "wire/spec_json.h"

static int read_text(const char *text, struct spec *s, const char **field, struct err *err)
{
    json_error_t e;
    json_t *object = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
    if (!object)
        fail_msg("%s: %s", text, e.text);
    static char name[64]; /* the key dies with the object */
    int rc = spec_from_json(object, s, field, err);
    if (*field) {
        snprintf(name, sizeof name, "%s", *field);
        *field = name;
    }
    json_decref(object);
    return rc;
}

/* Reads one text, and expects to write the other. */
static void expect(const char *text, const char *wanted)
{
    struct spec s, again;
    struct err err = {0};
    const char *field;
    spec_init(&s);
    spec_init(&again);
    if (read_text(text, &s, &field, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    assert_null(field);
    json_t *one = spec_to_json(&s);
    AUTO_FREE char *written = json_dumps(one, JSON_COMPACT | JSON_REAL_PRECISION(15));
    assert_string_equal(written, wanted);
    assert_ok(spec_from_json(one, &again, &field, &err), err);
    json_t *two = spec_to_json(&again);
    assert_true(json_equal(one, two));
    json_decref(one);
    json_decref(two);
    spec_done(&s);
    spec_done(&again);
}

static void reads_and_writes(void **state)
{
    (void)state;
    expect("{}", "{}");
    expect("{\"cpus\": 2, \"memory\": \"4g\"}", "{\"cpus\":2,\"memory\":4096}");
    expect("{\"cpus\": 0.1, \"gpus\": \"1-2\"}", "{\"cpus\":0.1,\"gpus\":\"1-2\"}");
    expect("{\"command\": [\"echo\", 3, \"\"]}", "{\"command\":[\"echo\",\"3\",\"\"]}");
    expect("{\"command\": \"a && b\"}", "{\"command\":[\"/bin/sh\",\"-c\",\"a && b\"]}");
    expect("{\"env\": {\"A\": \"1\", \"B\": 0.1, \"C\": true}}",
           "{\"env\":{\"A\":\"1\",\"B\":\"0.1\",\"C\":\"true\"}}");
    expect("{\"env\": [\"A=1\", \"A=2\"]}", "{\"env\":{\"A\":\"2\"}}");
    expect("{\"hold\": true, \"requeue\": false, \"name\": null}", "{\"hold\":true}");
    expect("{\"after\": \"afterok:1:2\"}", "{\"after\":[\"afterok:1\",\"afterok:2\"]}");
    expect("{\"after\": [\"afterok:1\", \"singleton\"]}",
           "{\"after\":[\"afterok:1\",\"singleton\"]}");
    expect("{\"mounts\": \"/a:/b\", \"image\": \"x\"}", "{\"image\":\"x\",\"mounts\":[\"/a:/b\"]}");
    expect("{\"script\": \"#!/bin/sh\\n\\u00e9\\n\"}", "{\"script\":\"#!/bin/sh\\n\xc3\xa9\\n\"}");
}

static void keeps_every_digit(void **state)
{
    struct spec s, again;
    struct err err = {0};
    const char *field;
    (void)state;
    spec_init(&s);
    s.target = 0.1 + 0.2;
    s.weight = 1.0 / 3;
    s.time_limit = 3155759999999999; /* close to a century */
    s.deadline_at = 7258118399999999;
    s.signal = (struct spec_warning){10, 1234567890123};
    s.cpus = (struct spec_span){1, 65535999};
    s.grace = 1;
    spec_init(&again);
    json_t *o = spec_to_json(&s);
    AUTO_FREE char *text = json_dumps(o, 0);
    json_decref(o);
    assert_ok(read_text(text, &again, &field, &err), err);
    assert_true(again.target == s.target && again.weight == s.weight);
    assert_int_equal(again.time_limit, s.time_limit);
    assert_int_equal(again.deadline_at, s.deadline_at);
    assert_int_equal(again.signal.before, s.signal.before);
    assert_int_equal(again.cpus.min, 1);
    assert_int_equal(again.cpus.max, 65535999);
    assert_int_equal(again.grace, 1);
    spec_done(&s);
    spec_done(&again);
}

static const struct {
    const char *text, *field, *error;
} bad[] = {
    {"[]", NULL, "expected a JSON object"},
    {"{\"cpu\": 1}", "cpu", "unknown field 'cpu'; did you mean 'cpus'?"},
    {"{\"cpus\": {}}", "cpus", "cpus: expected one value, not an object"},
    {"{\"cpus\": [1, 2]}", "cpus", "cpus: expected one value, not a list"},
    {"{\"cpus\": true}", "cpus", "cpus: 'true' is not a number"},
    {"{\"command\": {}}", "command", "command: expected a list, not an object"},
    {"{\"command\": [[]]}", "command", "command: expected a string without NUL, or a number"},
    {"{\"command\": [null]}", "command", "command: expected a string without NUL, or a number"},
    {"{\"command\": [\"a\\u0000b\"]}", "command", "command: expected a string without NUL"},
    {"{\"env\": {\"A\": null}}", "env", "env: 'A': expected a string without NUL, or a number"},
    {"{\"env\": {\"A\": []}}", "env", "env: 'A': expected a string without NUL, or a number"},
    {"{\"env\": {\"A=B\": \"\"}}", "env", "env: 'A=B': a variable's name must not contain ="},
    {"{\"env\": {\"\": \"x\"}}", "env", "env: '=x': expected KEY=VALUE"},
    {"{\"name\": \"a\\u0000b\"}", "name", "name: expected a string without NUL"},
    {"{\"command\": \"a\\u0000b\"}", "command", "command: expected a string without NUL"},
    {"{\"env\": {\"A\": \"a\\u0000b\"}}", "env",
     "env: 'A': expected a string without NUL, or a number"},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct spec s;
        struct err err;
        const char *field = "none";
        spec_init(&s);
        assert_error(read_text(bad[i].text, &s, &field, &err), err, ERR_INVALID, bad[i].error);
        if (bad[i].field)
            assert_string_equal(field, bad[i].field);
        else
            assert_null(field);
        spec_done(&s);
    }
}

static void replaces_what_was_there(void **state)
{
    struct spec s;
    struct err err;
    const char *field;
    (void)state;
    spec_init(&s);
    assert_ok(read_text("{\"command\": [\"a\", \"b\"], \"cpus\": 4, \"env\": {\"A\": \"1\"}}", &s,
                        &field, &err),
              err);
    assert_ok(read_text("{\"command\": [\"c\"], \"cpus\": null, \"env\": {\"B\": \"1\"}}", &s,
                        &field, &err),
              err);
    json_t *o = spec_to_json(&s);
    AUTO_FREE char *text = json_dumps(o, JSON_COMPACT);
    assert_string_equal(text, "{\"command\":[\"c\"],\"env\":{\"B\":\"1\"}}");
    json_decref(o);
    spec_done(&s);
}

static const struct CMUnitTest tests[] = {
    TEST(reads_and_writes),
    TEST(keeps_every_digit),
    TEST(refuses),
    TEST(replaces_what_was_there),
};

int main(void)
{
    return RUN(tests);
}
