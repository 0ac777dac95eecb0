/* Tests of http/router: which route fits, its parameters, the allowed methods. */
#include "http/router.h"

#include "http/url.h"
#include "support/test.h"

static void handle(const struct request *request, struct reply *reply, void *ctx)
{
    (void)request;
    (void)reply;
    (void)ctx;
}

static const struct route routes[] = {
    {"GET", "/", handle, "root", true},
    {"GET", "/jobs", handle, "list", false},
    {"POST", "/jobs", handle, "submit", false},
    {"GET", "/jobs/all", handle, "all", false},
    {"GET", "/jobs/{id}", handle, "show", false},
    {"DELETE", "/jobs/{id}", handle, "cancel", false},
    {"GET", "/jobs/{id}/logs/{attempt}", handle, "log", false},
    {"HEAD", "/probe", handle, "probe", false},
    {"PATCH", "/a/b", handle, "patch", false},
    {0},
};

static struct route_match find(const char *method, const char *path)
{
    static char text[256];
    char *segments[ROUTE_SEGMENTS];
    struct err err;
    strcpy(text, path);
    int n = url_segments(text, segments, ROUTE_SEGMENTS, &err);
    assert_true(n > 0);
    return router_find(routes, method, segments, (size_t)n);
}

static void assert_route(const char *method, const char *path, const char *name)
{
    struct route_match m = find(method, path);
    assert_non_null(m.route);
    assert_string_equal(m.route->name, name);
}

static void test_found(void **state)
{
    (void)state;
    assert_route("GET", "/", "root");
    assert_route("GET", "/jobs", "list");
    assert_route("HEAD", "/jobs", "list");
    assert_route("POST", "/jobs", "submit");
    assert_route("GET", "/jobs/all", "all");
    assert_route("GET", "/jobs/al", "show");
    assert_route("DELETE", "/jobs/all", "cancel");
    assert_route("HEAD", "/probe", "probe");
    assert_int_equal(router_check(routes, NULL), 0);
}

static void test_params(void **state)
{
    (void)state;
    struct route_match m = find("GET", "/jobs/a%2Fb/logs/3");
    assert_string_equal(m.route->name, "log");
    assert_string_equal(m.params[0], "a/b");
    assert_string_equal(m.params[1], "3");
    assert_null(m.params[2]);
    assert_int_equal(router_param(m.route, "id"), 0);
    assert_int_equal(router_param(m.route, "attempt"), 1);
    assert_int_equal(router_param(m.route, "attemp"), -1);
    assert_int_equal(router_param(m.route, "jobs"), -1);
    assert_int_equal(router_param(m.route, ""), -1);
}

static void test_not_found(void **state)
{
    (void)state;
    static const char *const nowhere[] = {
        "/job",         "/jobs/",
        "/jobs/1/logs", "/jobs/1/2",
        "/jobss",       "/Jobs",
        "/jobs/1/log/", "/jobs//logs/1",
        "//",           "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17/18"};
    for (size_t i = 0; i < COUNT_OF(nowhere); i++) {
        struct route_match m = find("GET", nowhere[i]);
        assert_null(m.route);
        assert_false(m.other_method);
    }
    assert_true(find("PUT", "/jobs").other_method);
    assert_true(find("get", "/jobs").other_method);
    assert_true(find("", "/jobs").other_method);
    assert_true(find("GET", "/probe").other_method);
}

static void assert_methods(const char *path, const char *want)
{
    char text[64], *segments[ROUTE_SEGMENTS];
    struct err err;
    struct str s = {0};
    strcpy(text, path);
    int n = *path ? url_segments(text, segments, ROUTE_SEGMENTS, &err) : 0;
    str_add(&s, "Allow: ");
    router_add_methods(routes, segments, (size_t)n, &s);
    assert_string_equal(s.at + 7, want);
    str_done(&s);
}

static void test_methods(void **state)
{
    (void)state;
    assert_methods("/jobs", "GET, HEAD, POST, OPTIONS");
    assert_methods("/jobs/all", "GET, HEAD, DELETE, OPTIONS");
    assert_methods("/a/b", "PATCH, OPTIONS");
    assert_methods("", "GET, HEAD, POST, DELETE, PATCH, OPTIONS");
}

static const struct CMUnitTest tests[] = {
    TEST(test_found),
    TEST(test_params),
    TEST(test_not_found),
    TEST(test_methods),
};

int main(void)
{
    return RUN(tests);
}
