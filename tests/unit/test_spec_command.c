/* Owns the tests of job requests as commands. */
#include "support/test.h"

#include "wire/spec_command.h"
#include "wire/spec_json.h"

static void expect(const char *request, const char *wanted)
{
    struct spec s;
    struct str out = {0};
    struct err err = {0};
    const char *field;
    json_auto_t *object = json_loads(request, 0, NULL);
    assert_non_null(object);
    spec_init(&s);
    assert_ok(spec_from_json(object, &s, &field, &err), err);
    spec_command(&s, &out);
    assert_string_equal(out.at, wanted);
    str_done(&out);
    spec_done(&s);
}

static void test_options(void **state)
{
    (void)state;
    expect("{\"command\":[\"./train\"]}", "trainyard submit -- ./train");
    expect("{\"command\":[\"./train\"],\"cpus\":\"0.5-4\",\"memory\":\"4g\",\"deadline\":\"2h\","
           "\"time_limit\":\"90s\",\"priority\":5,\"hold\":true,\"resize\":\"restart\"}",
           "trainyard submit --cpus 0.5-4 --memory 4096m --resize restart --deadline 7200 "
           "--time-limit 90 --priority 5 --hold -- ./train");
    expect("{\"command\":[\"t\"],\"env\":{\"A\":\"1\",\"B\":\"x y\"},\"array\":\"0-9%2\","
           "\"after\":[\"afterok:3\",\"singleton\"],\"weight\":1.5}",
           "trainyard submit --weight 1.5 --after afterok:3 --after singleton --array 0-9%2 "
           "--env A=1 --env 'B=x y' -- t");
}

static void test_quotes(void **state)
{
    (void)state;
    expect("{\"command\":[\"sh\",\"-c\",\"echo 'a' $HOME; true\",\"\"],\"name\":\"my job\"}",
           "trainyard submit --name 'my job' -- sh -c 'echo '\\''a'\\'' $HOME; true' ''");
    expect("{\"command\":[\"caf\xc3\xa9\"]}", "trainyard submit -- 'caf\xc3\xa9'");
}

static void test_script(void **state)
{
    (void)state;
    expect("{\"script\":\"#!/bin/sh\\ntrue\\n\",\"command\":[\"job.sh\",\"a\"],\"cpus\":2}",
           "trainyard submit --cpus 2 - a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_script),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
