/* Tests of the HTTP server over real sockets: what arrives at handlers, and what is
 * refused before. */
#include <jansson.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

/* Answers with all that it was asked. */
static void echo(const struct request *q, struct reply *r, void *ctx)
{
    json_t *query = json_array();
    (void)ctx;
    for (size_t i = 0; i < q->query.n; i++)
        json_array_append_new(query, json_pack("[ss]", q->query.at[i].name, q->query.at[i].value));
    const char *id = request_param(q, "id"), *agent = request_header(q, "user-AGENT");
    reply_json(r, 200,
               json_pack("{ss ss ss so? ss% ss* ss* si}", "route", q->route->name, "method",
                         q->method, "path", q->path, "query", query, "body", q->body, q->body_n,
                         "id", id, "agent", agent, "length", (int)q->body_n));
}

static void check(const struct request *q, struct reply *r, void *ctx)
{
    const char *limit = request_query(q, "limit");
    struct err err;
    json_t *body;
    (void)ctx;
    if (limit && !strcmp(limit, "0")) {
        err_set(&err, ERR_INVALID, "limit: must not be 0");
        reply_problem(r, &err, "limit");
    } else if (request_json(q, &body, &err) < 0) {
        reply_problem(r, &err, NULL);
    } else {
        reply_json(r, 201, json_pack("{ss*so}", "limit", limit, "body", body));
    }
}

static void forget(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)r;
    (void)ctx;
}

static const struct route routes[] = {
    {"GET", "/", echo, "root", false},
    {"GET", "/jobs", echo, "list", false},
    {"POST", "/jobs", echo, "submit", false},
    {"GET", "/jobs/all", echo, "all", false},
    {"GET", "/jobs/{id}", echo, "show", false},
    {"DELETE", "/jobs/{id}", echo, "cancel", false},
    {"PUT", "/check", check, "check", false},
    {"GET", "/forget", forget, "forget", false},
    {0},
};

static int start(void **state)
{
    struct http_host *h = xcalloc(1, sizeof *h);
    http_host_start(h, (struct http_config){.routes = routes, .limits = {.body = 100000}});
    *state = h;
    return 0;
}

static void assert_body(struct wire_reply r, int status, const char *body)
{
    if (r.status != status || !strstr(r.body.at, body))
        fail_msg("status %d, body %s; expected %d, %s", r.status, r.body.at, status, body);
    wire_reply_done(&r);
}

static void test_routes(void **state)
{
    struct http_host *h = *state;
    assert_body(wire_ask(h, "GET /", "", NULL), 200, "\"route\":\"root\"");
    assert_body(wire_ask(h, "GET /jobs", "", NULL), 200, "\"route\":\"list\"");
    assert_body(wire_ask(h, "POST /jobs", "", "x"), 200, "\"route\":\"submit\"");
    assert_body(wire_ask(h, "GET /jobs/all", "", NULL), 200, "\"route\":\"all\"");
    assert_body(wire_ask(h, "GET /jobs/17", "", NULL), 200, "\"id\":\"17\"");
    assert_body(wire_ask(h, "DELETE /jobs/a%2Fb%20c", "", NULL), 200, "\"id\":\"a/b c\"");
    assert_body(wire_ask(h, "GET http://host:80/jobs?a=1", "", NULL), 200, "[[\"a\",\"1\"]]");
    assert_body(wire_ask(h, "GET /jobs", "User-Agent: me\r\n", NULL), 200, "\"agent\":\"me\"");
    assert_body(wire_ask(h, "GET /forget", "", NULL), 500, "\"code\":\"internal\"");
}

static void test_no_route(void **state)
{
    struct http_host *h = *state;
    assert_body(wire_ask(h, "GET /job", "", NULL), 404,
                "{\"type\":\"about:blank\",\"title\":\"Not Found\",\"status\":404,"
                "\"code\":\"not_found\",\"detail\":\"there is nothing at /job\"}");
    assert_body(wire_ask(h, "GET /jobs/", "", NULL), 404, "/jobs/");
    assert_body(wire_ask(h, "GET //jobs", "", NULL), 404, "");
    assert_body(wire_ask(h, "GET /jobs/1/2", "", NULL), 404, "");
    assert_body(wire_ask(h, "GET /a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", "", NULL), 404, "");
    assert_body(wire_ask(h, "POST /job", "", "body"), 404, "");
}

static void test_methods(void **state)
{
    struct http_host *h = *state;
    struct wire_reply r = wire_ask(h, "PUT /jobs", "", "x");
    assert_int_equal(r.status, 405);
    assert_string_equal(wire_header(&r, "Allow"), "GET, HEAD, POST, OPTIONS");
    assert_body(r, 405, "PUT is not allowed here; use GET, HEAD, POST, OPTIONS");
    r = wire_ask(h, "OPTIONS /jobs/17", "", NULL);
    assert_int_equal(r.status, 204);
    assert_string_equal(wire_header(&r, "Allow"), "GET, HEAD, DELETE, OPTIONS");
    assert_null(wire_header(&r, "Access-Control-Allow-Origin"));
    wire_reply_done(&r);
    r = wire_ask(h, "OPTIONS *", "", NULL);
    assert_int_equal(r.status, 204);
    assert_string_equal(wire_header(&r, "Allow"), "GET, HEAD, POST, DELETE, PUT, OPTIONS");
    wire_reply_done(&r);
    r = wire_ask(h, "HEAD /jobs/17", "", NULL);
    assert_int_equal(r.status, 200);
    assert_true(atoi(wire_header(&r, "Content-Length")) > 50);
    wire_reply_done(&r);
    assert_body(wire_ask(h, "OPTIONS /nowhere", "", NULL), 404, "");
    assert_body(wire_ask(h, "BREW /jobs", "", NULL), 405, "BREW");
    assert_body(wire_ask(h, "G@T! /jobs", "", NULL), 405, "");
    assert_body(wire_ask(h, "get /jobs", "", NULL), 405, "");
    assert_body(wire_ask(h, "GET *", "", NULL), 404, "");
}

static void test_query(void **state)
{
    struct http_host *h = *state;
    assert_body(wire_ask(h, "GET /jobs?state=run&state=done&q=a+b%26c&empty=&bare&&", "", NULL),
                200,
                "[[\"state\",\"run\"],[\"state\",\"done\"],[\"q\",\"a b&c\"],[\"empty\",\"\"],"
                "[\"bare\",\"\"]]");
    assert_body(wire_ask(h, "GET /jobs?n=%C3%A9", "", NULL), 200, "\xc3\xa9");
    assert_body(wire_ask(h, "GET /jobs?", "", NULL), 200, "\"query\":[]");
    static const char *const bad[] = {"/jobs?a=%",   "/jobs?a=%4", "/jobs?%zz=1",    "/jobs?a=%00",
                                      "/jobs?a=%0a", "/jobs/%ff",  "/jobs?a=%c0%af", "/jobs/%E2%82",
                                      "/jobs/%00",   "/jobs?a#b",  "jobs",           "/%"};
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        char line[64];
        snprintf(line, sizeof line, "GET %s", bad[i]);
        assert_body(wire_ask(h, line, "", NULL), 400, "\"code\":\"invalid\"");
    }
}

static void test_checks(void **state)
{
    struct http_host *h = *state;
    const char *json = "Content-Type: application/json\r\n";
    assert_body(wire_ask(h, "PUT /check?limit=7", json, "{\"a\":[1]}"), 201,
                "{\"limit\":\"7\",\"body\":{\"a\":[1]}}");
    assert_body(
        wire_ask(h, "PUT /check", "Content-Type: application/x+json; charset=utf-8\r\n", "[]"), 201,
        "{\"body\":[]}");
    assert_body(wire_ask(h, "PUT /check?limit=0", json, "{}"), 400,
                "\"detail\":\"limit: must not be 0\",\"field\":\"limit\"");
    assert_body(wire_ask(h, "PUT /check", json, "{\"a\":1,}"), 400, "line 1, column 8");
    assert_body(wire_ask(h, "PUT /check", json, "{\"a\":1,\"a\":2}"), 400, "duplicate");
    assert_body(wire_ask(h, "PUT /check", json, "\"\xff\""), 400, "decode byte 0xff");
    assert_body(wire_ask(h, "PUT /check", json, "{} x"), 400, "end of file expected");
    assert_body(wire_ask(h, "PUT /check", "Content-Type: text/plain\r\n", "{}"), 400,
                "Content-Type: application/json");
    assert_body(wire_ask(h, "PUT /check", "", "{}"), 400, "Content-Type: application/json");
    assert_body(wire_ask(h, "PUT /check", json, ""), 400, "needs a JSON body");
    assert_body(wire_ask(h, "PUT /check", json, NULL), 400, "needs a JSON body");
}

/* A request that arrives in as many pieces as it has bytes. */
static void test_byte_by_byte(void **state)
{
    static const char request[] = "POST /jobs?a=b HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n"
                                  "hello";
    static const char chunked[] =
        "POST /jobs?a=b HTTP/1.1\r\nHost: x\r\n"
        "Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2\r\nlo\r\n0\r\n\r\n";
    int fd = wire_connect(*state);
    for (int round = 0; round < 4; round++)
        for (const char *p = round % 2 ? chunked : request; *p; p++) {
            wire_send_n(fd, p, 1);
            if (round < 2)
                usleep(200);
            if (!p[1])
                assert_body(wire_read_reply(fd, false), 200, "\"body\":\"hello\"");
        }
    close(fd);
}

static void test_pipelining(void **state)
{
    struct str s = {0};
    int fd = wire_connect(*state);
    for (int i = 0; i < 200; i++)
        if (i % 2)
            str_addf(&s, "GET /jobs/%d HTTP/1.1\r\nHost: x\r\n\r\n", i);
        else
            str_addf(&s, "POST /jobs?n=%d HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc", i);
    wire_send_n(fd, s.at, s.n);
    for (int i = 0; i < 200; i++) {
        char want[64];
        snprintf(want, sizeof want, i % 2 ? "\"id\":\"%d\"" : "[[\"n\",\"%d\"]]", i);
        assert_body(wire_read_reply(fd, false), 200, want);
    }
    /* The writing side may be shut before the replies are read. */
    wire_send_n(fd, s.at, s.n);
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < 200; i++)
        assert_body(wire_read_reply(fd, false), 200, "");
    assert_true(wire_closed(fd));
    close(fd);
    str_done(&s);
}

static void test_body_limit(void **state)
{
    struct http_host *h = *state;
    char *body = xmalloc(300001);
    memset(body, 'b', 300000);
    body[100000] = '\0';
    assert_body(wire_ask(h, "POST /jobs", "", body), 200, "\"length\":100000");
    body[100000] = 'b';
    body[100001] = '\0';
    assert_body(
        wire_ask(h, "POST /jobs", "", body), 413,
        "\"code\":\"limit\",\"detail\":\"the body has 100001 bytes; at most 100000 are allowed\"");
    body[100001] = 'b';
    body[300000] = '\0';
    /* The connection can be used again, as the whole body was read. */
    int fd = wire_connect(h);
    wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n");
    wire_send(fd, body);
    assert_body(wire_read_reply(fd, false), 413, "");
    wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n493E0\r\n");
    wire_send(fd, body);
    wire_send(fd, "\r\n0\r\n\r\n");
    assert_body(wire_read_reply(fd, false), 413, "more than the 100000 bytes");
    wire_send(fd, "GET /jobs HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_body(wire_read_reply(fd, false), 200, "\"length\":0");
    close(fd);
    /* One who asks first is told before it sends anything. */
    fd = wire_connect(h);
    wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n"
                  "Expect: 100-continue\r\n\r\n");
    assert_body(wire_read_reply(fd, false), 413, "");
    assert_true(wire_closed(fd));
    close(fd);
    free(body);
}

static void test_expect(void **state)
{
    int fd = wire_connect(*state);
    wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
                  "Expect: 100-continue\r\n\r\n");
    free(wire_read_until(fd, "HTTP/1.1 100 Continue\r\n\r\n"));
    wire_send(fd, "abc");
    assert_body(wire_read_reply(fd, false), 200, "\"body\":\"abc\"");
    close(fd);
}

static void test_http_1_0(void **state)
{
    int fd = wire_connect(*state);
    wire_send(fd, "GET /jobs HTTP/1.0\r\n\r\n");
    char *all = wire_read_end(fd);
    assert_non_null(strstr(all, " 200 OK\r\n"));
    assert_non_null(strstr(all, "\"route\":\"list\""));
    assert_null(strstr(all, "chunked"));
    free(all);
    close(fd);
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, http_host_tear_down)

static const struct CMUnitTest tests[] = {
    HOSTED(test_routes),     HOSTED(test_no_route),   HOSTED(test_methods),
    HOSTED(test_query),      HOSTED(test_checks),     HOSTED(test_byte_by_byte),
    HOSTED(test_pipelining), HOSTED(test_body_limit), HOSTED(test_expect),
    HOSTED(test_http_1_0),
};

int main(void)
{
    return RUN(tests);
}
