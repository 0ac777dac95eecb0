/* Tests of http/problem: errors as problem objects and back. */
#include "http/problem.h"

#include <jansson.h>

#include "support/test.h"

static void test_there_and_back(void **state)
{
    (void)state;
    for (int code = ERR_INVALID; code <= ERR_UNREACHABLE; code++) {
        struct problem p = {err_http((enum err_code)code), err_name((enum err_code)code),
                            "a \"quoted\"\nline \xff", "cpus"};
        struct str s = {0};
        struct err err;
        problem_add_json(&p, "Title", &s);
        json_t *root = json_loadb(s.at, s.n, 0, NULL);
        assert_non_null(root);
        assert_string_equal(json_string_value(json_object_get(root, "type")), "about:blank");
        assert_string_equal(json_string_value(json_object_get(root, "title")), "Title");
        assert_string_equal(json_string_value(json_object_get(root, "field")), "cpus");
        assert_int_equal(json_integer_value(json_object_get(root, "status")), p.status);
        json_decref(root);
        assert_error(problem_to_err(p.status, s.at, s.n, &err), err, (enum err_code)code,
                     "a \"quoted\"\nline ");
        str_done(&s);
    }
}

static void test_no_field(void **state)
{
    (void)state;
    struct str s = {0};
    problem_add_json(&(struct problem){404, "not_found", "x", NULL}, "Not Found", &s);
    assert_string_equal(s.at, "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
                              "\"code\":\"not_found\",\"detail\":\"x\"}\n");
    str_done(&s);
}

static void test_by_status(void **state)
{
    (void)state;
    static const struct {
        int status;
        enum err_code code;
    } cases[] = {{400, ERR_INVALID},   {401, ERR_DENIED},      {403, ERR_DENIED},
                 {404, ERR_NOT_FOUND}, {405, ERR_INVALID},     {409, ERR_CONFLICT},
                 {413, ERR_LIMIT},     {431, ERR_LIMIT},       {429, ERR_LIMIT},
                 {500, ERR_INTERNAL},  {503, ERR_UNREACHABLE}, {599, ERR_INTERNAL}};
    static const char *const bodies[] = {
        "",           "<html>",         "[]",
        "{}",         "{\"detail\":5}", "{\"code\":\"not_found\",\"detail\":\"\"}",
        "{\"detail\""};
    struct err err;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        assert_error(problem_to_err(cases[i].status, NULL, 0, &err), err, cases[i].code,
                     "HTTP status");
        for (size_t k = 0; k < COUNT_OF(bodies); k++)
            assert_error(problem_to_err(cases[i].status, bodies[k], strlen(bodies[k]), &err), err,
                         cases[i].code, "HTTP status");
    }
    const char *own = "{\"code\":\"ours\",\"detail\":\"because\"}";
    assert_error(problem_to_err(409, own, strlen(own), &err), err, ERR_CONFLICT, "because");
}

static const struct CMUnitTest tests[] = {
    TEST(test_there_and_back),
    TEST(test_no_field),
    TEST(test_by_status),
};

int main(void)
{
    return RUN(tests);
}
