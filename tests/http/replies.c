/* Tests of replies over real sockets: content types, headers, problems, and answers
 * that come later. */
#include <jansson.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

#define PAGE "<html><script>1</script></html>"
#define LARGE (20u << 20)

static void json(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    reply_header(r, "Location", "/jobs/1\r\nX-Injected: yes");
    reply_json(r, request_query(q, "status") ? atoi(request_query(q, "status")) : 200,
               json_pack("{s[iis]}", "a", 1, 2, "\xc3\xa9"));
}

static void unwritable(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    json_t *loop = json_array(), *inner = json_array();
    json_array_append_new(loop, inner);
    json_array_append(inner, loop);
    reply_json(r, 200, loop);
    json_array_clear(inner);
}

static void page(const struct request *q, struct reply *r, void *ctx)
{
    (void)ctx;
    if (request_query(q, "own"))
        reply_header(r, "content-security-policy", "default-src 'none'");
    reply_text(r, 200, "text/html", PAGE);
}

static void large(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    char *bytes = xmalloc(LARGE);
    for (size_t i = 0; i < LARGE; i++)
        bytes[i] = (char)(i % 251);
    reply_bytes(r, 200, "application/octet-stream", bytes, LARGE);
}

static void nothing(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_empty(r, 204);
}

static void teapot(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_problem_as(r, 418, "teapot", "short and stout");
}

/* ---- deferred -------------------------------------------------------------- */

static _Atomic(struct reply *) waiting;
static atomic_int gone_calls, served_calls, served_status;
static atomic_bool served_route;

static void on_gone(void *ctx)
{
    (void)ctx;
    gone_calls++;
}

static void later(const struct request *q, struct reply *r, void *ctx)
{
    reply_defer(r, request_query(q, "watch") ? on_gone : NULL, ctx);
    if (request_query(q, "now"))
        reply_text(r, 200, "text/plain", "at once");
    else
        waiting = r;
}

static void answer(struct http_host *h)
{
    (void)h;
    struct reply *r = waiting;
    waiting = NULL;
    reply_json(r, 202, json_pack("{ss}", "asked", reply_request(r)->path));
}

static void on_served(void *ctx, const struct request *q, int status, usec_t took)
{
    (void)ctx;
    assert_non_null(q->path);
    assert_true(took >= 0);
    served_status = status;
    served_route = q->route != NULL;
    served_calls++;
}

static const struct route routes[] = {
    {"GET", "/json", json, "json", false},
    {"GET", "/unwritable", unwritable, "unwritable", false},
    {"GET", "/page", page, "page", false},
    {"GET", "/large", large, "large", false},
    {"GET", "/nothing", nothing, "nothing", false},
    {"GET", "/teapot", teapot, "teapot", false},
    {"POST", "/later", later, "later", false},
    {0},
};

static int start(void **state)
{
    struct http_host *h = xcalloc(1, sizeof *h);
    http_host_start(h, (struct http_config){
                           .routes = routes, .identify = http_host_knows, .served = on_served});
    waiting = NULL;
    gone_calls = served_calls = 0;
    *state = h;
    return 0;
}

static void test_json(void **state)
{
    struct wire_reply r = wire_ask(*state, "GET /json?status=201", "", NULL);
    assert_int_equal(r.status, 201);
    assert_string_equal(r.body.at, "{\"a\":[1,2,\"\xc3\xa9\"]}");
    assert_header(&r, "Content-Type", "application/json");
    assert_header(&r, "Cache-Control", "no-store");
    assert_header(&r, "X-Content-Type-Options", "nosniff");
    assert_header(&r, "Location", "/jobs/1");
    assert_null(wire_header(&r, "X-Injected"));
    assert_null(wire_header(&r, "Access-Control-Allow-Origin"));
    wire_reply_done(&r);
    r = wire_ask(*state, "GET /unwritable", "", NULL);
    assert_int_equal(r.status, 500);
    assert_header(&r, "Content-Type", "application/problem+json");
    wire_reply_done(&r);
    wait_for(served_calls == 2);
    assert_int_equal(served_status, 500);
}

static void test_page(void **state)
{
    struct wire_reply r = wire_ask(*state, "GET /page", "", NULL);
    assert_string_equal(r.body.at, PAGE);
    assert_header(&r, "Content-Type", "text/html; charset=utf-8");
    assert_header(&r, "X-Frame-Options", "DENY");
    assert_header(&r, "Referrer-Policy", "no-referrer");
    assert_non_null(strstr(wire_header(&r, "Content-Security-Policy"), "default-src 'self'"));
    wire_reply_done(&r);
    r = wire_ask(*state, "GET /page?own", "", NULL);
    assert_header(&r, "Content-Security-Policy", "default-src 'none'");
    wire_reply_done(&r);
    r = wire_ask(*state, "GET /nothing", "", NULL);
    assert_int_equal(r.status, 204);
    assert_null(wire_header(&r, "Content-Type"));
    wire_reply_done(&r);
}

/* A status that no error has; and one for which no handler was found. */
static void test_problems(void **state)
{
    struct wire_reply r = wire_ask(*state, "GET /teapot", "", NULL);
    assert_int_equal(r.status, 418);
    assert_header(&r, "Content-Type", "application/problem+json");
    assert_non_null(strstr(r.body.at, "\"code\":\"teapot\",\"detail\":\"short and stout\""));
    wire_reply_done(&r);
    wait_for(served_calls == 1);
    assert_true(served_route);
    r = wire_ask(*state, "GET /nowhere", "", NULL);
    wire_reply_done(&r);
    wait_for(served_calls == 2);
    assert_int_equal(served_status, 404);
    assert_false(served_route);
}

static void test_large(void **state)
{
    struct http_host *h = *state;
    int fds[] = {wire_connect(h), wire_connect(h), wire_connect(h)};
    for (size_t i = 0; i < COUNT_OF(fds); i++)
        wire_send(fds[i], "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    for (size_t i = 0; i < COUNT_OF(fds); i++) {
        struct wire_reply r = wire_read_reply(fds[i], false);
        assert_int_equal(r.body.n, LARGE);
        for (size_t k = 0; k < LARGE; k++)
            if (r.body.at[k] != (char)(k % 251))
                fail_msg("byte %zu is wrong", k);
        wire_reply_done(&r);
        close(fds[i]);
    }
}

static void post_later(int fd, const char *query)
{
    char text[128];
    snprintf(text, sizeof text,
             "POST /later%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer s3cret\r\n"
             "Content-Length: 3\r\n\r\nabc",
             query);
    wire_send(fd, text);
}

static void test_deferred(void **state)
{
    struct http_host *h = *state;
    int fd = wire_connect(h);
    for (int i = 0; i < 20; i++) {
        post_later(fd, i % 2 ? "?watch" : "");
        /* The next one waits for its turn. */
        if (i == 10)
            wire_send(fd, "GET /json HTTP/1.1\r\nHost: x\r\n\r\n");
        wait_for(waiting);
        http_host_do(h, answer);
        struct wire_reply r = wire_read_reply(fd, false);
        assert_int_equal(r.status, 202);
        assert_string_equal(r.body.at, "{\"asked\":\"/later\"}");
        wire_reply_done(&r);
        if (i != 10)
            continue;
        r = wire_read_reply(fd, false);
        assert_int_equal(r.status, 200);
        wire_reply_done(&r);
    }
    close(fd);
    struct wire_reply r = wire_ask(h, "POST /later?now", "", "abc");
    assert_string_equal(r.body.at, "at once");
    wire_reply_done(&r);
    assert_int_equal(gone_calls, 0);
}

/* A client that hangs up while it waits: the handler is told, or its answer is
 * dropped. */
static void test_hang_up(void **state)
{
    struct http_host *h = *state;
    int fd = wire_connect(h);
    post_later(fd, "?watch");
    wait_for(waiting);
    close(fd);
    wait_for(gone_calls == 1);
    waiting = NULL;
    fd = wire_connect_tcp(h);
    post_later(fd, "?watch");
    wait_for(waiting);
    close(fd);
    wait_for(gone_calls == 2);
    waiting = NULL;
    fd = wire_connect(h);
    post_later(fd, "");
    wait_for(waiting);
    close(fd);
    http_host_do(h, answer);
    wait_for(served_calls == 3);
    assert_int_equal(gone_calls, 2);
}

/* One that has only shut its writing side still wants the answer. */
static void test_half_closed(void **state)
{
    struct http_host *h = *state;
    int fd = wire_connect(h);
    post_later(fd, "?watch");
    shutdown(fd, SHUT_WR);
    wait_for(waiting);
    /* The loop has turned since. */
    for (int i = 0; i < 20; i++) {
        struct wire_reply other = wire_ask(h, "GET /json", "", NULL);
        wire_reply_done(&other);
    }
    assert_int_equal(gone_calls, 0);
    http_host_do(h, answer);
    struct wire_reply r = wire_read_reply(fd, false);
    assert_int_equal(r.status, 202);
    wire_reply_done(&r);
    close(fd);
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, http_host_tear_down)

static const struct CMUnitTest tests[] = {
    HOSTED(test_json),     HOSTED(test_page),    HOSTED(test_problems),    HOSTED(test_large),
    HOSTED(test_deferred), HOSTED(test_hang_up), HOSTED(test_half_closed),
};

int main(void)
{
    return RUN(tests);
}
