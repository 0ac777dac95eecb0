/* Tests of the end of a server: what finishes, what is cut off, and when. */
#include <errno.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "http/listen.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/stream.h"
#include "support/http_host.h"
#include "support/test.h"

#define LARGE (32u << 20)
/* A grace that no test waits for. */
#define LONG (3600 * USEC_PER_SEC)

static _Atomic(struct reply *) waiting;
static atomic_int gone_calls, stopped_calls;

static void on_gone(void *ctx)
{
    (void)ctx;
    waiting = NULL;
    gone_calls++;
}

static void later(const struct request *q, struct reply *r, void *ctx)
{
    reply_defer(r, request_query(q, "watch") ? on_gone : NULL, ctx);
    waiting = r;
}

static void ok(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_text(r, 200, "text/plain", "ok");
}

static void large(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_bytes(r, 200, "application/octet-stream", xcalloc(1, LARGE), LARGE);
}

static const struct route routes[] = {
    {"GET", "/ok", ok, "ok", false},
    {"POST", "/ok", ok, "ok", false},
    {"GET", "/later", later, "later", false},
    {"GET", "/large", large, "large", false},
    {0},
};

static void start(struct http_host *h)
{
    waiting = NULL;
    gone_calls = 0;
    http_host_start(h, (struct http_config){.routes = routes});
}

static void answer(struct http_host *h)
{
    (void)h;
    reply_text(waiting, 200, "text/plain", "done");
    waiting = NULL;
}

static int ask(struct http_host *h, const char *text)
{
    int fd = wire_connect(h);
    wire_send(fd, text);
    return fd;
}

static void test_nothing(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    http_host_stop(&h, LONG);
}

/* Idle connections hold nothing up, and see a clean end. */
static void test_idle(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = wire_connect(&h), b = ask(&h, "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n");
    free(wire_read_until(b, "ok"));
    http_host_stop(&h, LONG);
    assert_true(wire_closed(a));
    assert_true(wire_closed(b));
    close(a);
    close(b);
}

static void assert_no_server(const struct http_host *h)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    strcpy(a.sun_path, h->socket);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof a), -1);
    assert_int_equal(errno, ENOENT);
    close(fd);
}

/* Whoever waits for an answer gets it; nobody new is let in. */
static void test_answers_finish(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = ask(&h, "GET /later?watch HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for(waiting);
    http_host_begin_stop(&h, LONG);
    assert_no_server(&h);
    http_host_do(&h, answer);
    struct wire_reply r = wire_read_reply(a, false);
    assert_string_equal(r.body.at, "done");
    assert_string_equal(wire_header(&r, "Connection"), "close");
    wire_reply_done(&r);
    assert_true(wire_closed(a));
    close(a);
    http_host_end_stop(&h);
    assert_int_equal(gone_calls, 0);
}

/* A request that is still arriving is answered too. */
static void test_requests_finish(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = ask(&h, "POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n"
                    "Expect: 100-continue\r\n\r\n");
    free(wire_read_until(a, "100 Continue\r\n\r\n"));
    wire_send(a, "01234");
    http_host_begin_stop(&h, LONG);
    wire_send(a, "56789");
    AUTO_FREE char *all = wire_read_end(a);
    assert_non_null(strstr(all, "\r\n\r\nok"));
    close(a);
    http_host_end_stop(&h);
}

static void test_patience_ends(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = ask(&h, "GET /later?watch HTTP/1.1\r\nHost: x\r\n\r\n");
    int b = ask(&h, "GET /large HTTP/1.1\r\nHost: x\r\n\r\n");
    int c = ask(&h, "POST /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n01234");
    wait_for(waiting);
    http_host_stop(&h, USEC_PER_SEC / 5);
    assert_int_equal(gone_calls, 1);
    assert_true(wire_closed(a));
    assert_true(wire_closed(c));
    close(a);
    close(b);
    close(c);
}

/* An answer without `gone` may be given when the server is no more. */
static void test_answer_after_the_end(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = ask(&h, "GET /later?x=1 HTTP/1.1\r\nHost: x\r\nX-A: b\r\n\r\n");
    wait_for(waiting);
    http_host_stop(&h, 0);
    assert_true(wire_closed(a));
    close(a);
    const struct request *q = reply_request(waiting);
    assert_string_equal(q->method, "GET");
    assert_string_equal(request_query(q, "x"), "1");
    assert_null(request_header(q, "X-A"));
    answer(&h);
}

/* A stream is refused then. */
static void test_stream_after_the_end(void **state)
{
    static const struct stream_ops none = {0};
    struct http_host h;
    (void)state;
    for (int i = 0; i < 2; i++) {
        start(&h);
        int a = ask(&h, "GET /later HTTP/1.1\r\nHost: x\r\n\r\n");
        wait_for(waiting);
        http_host_stop(&h, 0);
        close(a);
        assert_null(i ? reply_events(waiting, &none, NULL)
                      : reply_stream(waiting, "text/plain", &none, NULL));
    }
}

/* A second call may only make it shorter. */
static void test_twice(void **state)
{
    struct http_host h;
    (void)state;
    start(&h);
    int a = ask(&h, "GET /later?watch HTTP/1.1\r\nHost: x\r\n\r\n");
    wait_for(waiting);
    http_host_begin_stop(&h, LONG);
    http_host_begin_stop(&h, 2 * LONG);
    http_host_begin_stop(&h, USEC_PER_SEC / 10);
    http_host_end_stop(&h);
    assert_int_equal(gone_calls, 1);
    close(a);
}

/* ---- without a thread ------------------------------------------------------ */

static struct http_server *server;

static void on_stopped(void *ctx)
{
    (void)ctx;
    stopped_calls++;
}

static void stop_now(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    http_server_stop(server, 5 * USEC_PER_SEC, on_stopped, ctx);
    reply_text(r, 200, "text/plain", "stopping");
}

static void test_from_handler(void **state)
{
    static const struct route table[] = {{"POST", "/stop", stop_now, "stop", false}, {0}};
    struct http_config config = {.routes = table};
    struct err err;
    uv_loop_t loop;
    char path[] = "/tmp/trainyard-http-stop-XXXXXX";
    struct http_host h = {0};
    (void)state;
    close(mkstemp(path));
    unlink(path);
    snprintf(h.socket, sizeof h.socket, "%s", path);
    uv_loop_init(&loop);
    assert_ok(http_server_create(&loop, &config, &server, &err), err);
    assert_ok(http_server_listen_unix(server, path, &err), err);
    int fd = ask(&h, "POST /stop HTTP/1.1\r\nHost: x\r\n\r\n");
    stopped_calls = 0;
    uv_run(&loop, UV_RUN_DEFAULT);
    assert_int_equal(stopped_calls, 1);
    AUTO_FREE char *all = wire_read_end(fd);
    assert_non_null(strstr(all, "stopping"));
    close(fd);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void test_bad_routes(void **state)
{
    static const struct route bad[][2] = {
        {{"GET", "jobs", ok, "x", false}, {0}},
        {{"GET", "/a{id}", ok, "x", false}, {0}},
        {{"GET", "/jobs/{id", ok, "x", false}, {0}},
        {{"GET", "/jobs", NULL, "x", false}, {0}},
        {{"GET", "/{a}/{b}/{c}/{d}/{e}", ok, "x", false}, {0}},
        {{NULL, "/jobs", ok, "x", false}, {0}},
        {{"GET", "/{}", ok, "x", false}, {0}},
    };
    uv_loop_t loop;
    (void)state;
    uv_loop_init(&loop);
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        struct http_config config = {.routes = bad[i]};
        struct err err;
        assert_error(http_server_create(&loop, &config, &server, &err), err, ERR_INTERNAL,
                     "route ");
    }
    assert_int_equal(uv_loop_close(&loop), 0);
}

static const struct CMUnitTest tests[] = {
    TEST(test_nothing),
    TEST(test_idle),
    TEST(test_answers_finish),
    TEST(test_requests_finish),
    TEST(test_patience_ends),
    TEST(test_answer_after_the_end),
    TEST(test_stream_after_the_end),
    TEST(test_twice),
    TEST(test_from_handler),
    TEST(test_bad_routes),
};

int main(void)
{
    return RUN(tests);
}
