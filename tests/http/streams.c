/* Tests of streams over real sockets: bytes that follow something, server-sent
 * events, slow and vanishing clients. */
#include <stdatomic.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/request.h"
#include "http/stream.h"
#include "support/http_host.h"
#include "support/test.h"

#define PULL_BYTES (5u << 20)
#define BUFFER_BYTES 65536u

static _Atomic(struct stream *) stream;
static atomic_int closed_calls, drained_calls, events_sent;
static atomic_size_t pulled;
static char last_id[64];

static void on_closed(struct stream *s, void *ctx)
{
    (void)ctx;
    if (s == stream)
        stream = NULL;
    closed_calls++;
}

static void on_drained(struct stream *s, void *ctx)
{
    (void)s;
    (void)ctx;
    drained_calls++;
}

static const struct stream_ops quiet = {on_drained, on_closed};

static void follow(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    stream = reply_stream(r, "text/plain", &quiet, ctx);
}

static void events(const struct request *q, struct reply *r, void *ctx)
{
    const char *id = request_header(q, "Last-Event-ID");
    snprintf(last_id, sizeof last_id, "%s", id ? id : "");
    stream = reply_events(r, &quiet, ctx);
}

/* Writes whenever there is room, until all is written. */
static void pull_more(struct stream *s, void *ctx)
{
    char block[10007];
    (void)ctx;
    for (;;) {
        size_t n = PULL_BYTES - pulled < sizeof block ? PULL_BYTES - pulled : sizeof block;
        if (!n) {
            stream_end(s);
            return;
        }
        for (size_t i = 0; i < n; i++)
            block[i] = (char)((pulled + i) % 253);
        size_t taken = stream_write(s, block, n);
        pulled += taken;
        if (taken < n)
            return;
    }
}

static void pull(const struct request *q, struct reply *r, void *ctx)
{
    static const struct stream_ops ops = {pull_more, on_closed};
    (void)q;
    pulled = 0;
    reply_stream(r, "application/octet-stream", &ops, ctx);
}

static void answer_deferred(void *ctx)
{
    (void)ctx;
}

static struct reply *deferred;

static void deferred_events(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    reply_defer(r, answer_deferred, ctx);
    deferred = r;
}

static const struct route routes[] = {
    {"GET", "/follow", follow, "follow", false},
    {"GET", "/events", events, "events", false},
    {"GET", "/pull", pull, "pull", false},
    {"GET", "/deferred", deferred_events, "deferred", false},
    {0},
};

static int start(void **state)
{
    struct http_host *h = xcalloc(1, sizeof *h);
    http_host_start(h, (struct http_config){.routes = routes,
                                            .identify = http_host_knows,
                                            .limits = {.stream = BUFFER_BYTES,
                                                       .peer_connections = 1000,
                                                       .comment_s = 1,
                                                       .idle_s = 2}});
    stream = NULL;
    deferred = NULL;
    closed_calls = drained_calls = events_sent = 0;
    *state = h;
    return 0;
}

static int open_stream(struct http_host *h, bool tcp, const char *line)
{
    char text[256];
    int fd = tcp ? wire_connect_tcp(h) : wire_connect(h);
    snprintf(text, sizeof text, "%s\r\nHost: x\r\nAuthorization: Bearer s3cret\r\n\r\n", line);
    wire_send(fd, text);
    return fd;
}

static void write_hello(struct http_host *h)
{
    (void)h;
    assert_int_equal(stream_write(stream, "hello", 5), 5);
}

static void end(struct http_host *h)
{
    (void)h;
    struct stream *s = stream;
    stream = NULL;
    stream_end(s);
}

/* The head comes before there is anything to send, by both kinds of socket. */
static void test_bytes(void **state)
{
    struct http_host *h = *state;
    for (int tcp = 0; tcp < 2; tcp++) {
        int fd = open_stream(h, tcp, "GET /follow HTTP/1.1");
        char *head = wire_read_until(fd, "\r\n\r\n");
        assert_non_null(strstr(head, "Content-Type: text/plain; charset=utf-8"));
        free(head);
        for (int i = 0; i < 100; i++) {
            http_host_do(h, write_hello);
            free(wire_read_until(fd, "5\r\nhello\r\n"));
        }
        assert_true(drained_calls >= 100);
        http_host_do(h, end);
        free(wire_read_until(fd, "0\r\n\r\n"));
        /* The connection is as good as before. */
        wire_send(fd, "GET /nothing HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer s3cret\r\n\r\n");
        struct wire_reply r = wire_read_reply(fd, false);
        assert_int_equal(r.status, 404);
        wire_reply_done(&r);
        close(fd);
    }
    assert_int_equal(closed_calls, 0);
}

static void turn(struct http_host *h)
{
    (void)h;
}

/* More than the buffer holds, from a source that is asked for more. */
static void test_pull(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "GET /pull HTTP/1.1");
    wait_for(pulled > 0);
    for (int i = 0; i < 100; i++)
        http_host_do(h, turn);
    /* It was not asked for more than the client takes. */
    assert_true(pulled < PULL_BYTES / 2);
    struct wire_reply r = wire_read_reply(fd, false);
    assert_int_equal(r.body.n, PULL_BYTES);
    for (size_t i = 0; i < r.body.n; i++)
        if (r.body.at[i] != (char)(i % 253))
            fail_msg("byte %zu is wrong", i);
    wire_reply_done(&r);
    close(fd);
    fd = open_stream(h, false, "GET /pull HTTP/1.0");
    AUTO_FREE char *head = wire_read_until(fd, "\r\n\r\n");
    assert_null(strstr(head, "chunked"));
    size_t n = strlen(strstr(head, "\r\n\r\n") + 4);
    char buf[65536];
    for (ssize_t got; (got = recv(fd, buf, sizeof buf, 0)) > 0;)
        n += (size_t)got;
    /* The first piece may hold NUL bytes, which strlen stops at. */
    assert_true(n > PULL_BYTES / 2);
    close(fd);
}

static void send_events(struct http_host *h)
{
    (void)h;
    assert_int_equal(stream_event(stream, "41", "job", "{\"a\":1}"), 0);
    assert_int_equal(stream_event(stream, "42\nx", NULL, "two\nlines"), 0);
}

static void test_events(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "GET /events HTTP/1.1\r\nLast-Event-ID: 40");
    char *head = wire_read_until(fd, "retry: 2000\n\n");
    assert_non_null(strstr(head, "Content-Type: text/event-stream\r\n"));
    assert_non_null(strstr(head, "Cache-Control: no-store\r\n"));
    free(head);
    assert_string_equal(last_id, "40");
    http_host_do(h, send_events);
    char *text = wire_read_until(fd, "data: lines\n\n");
    assert_non_null(strstr(text, "id: 41\nevent: job\ndata: {\"a\":1}\n\n"));
    assert_non_null(strstr(text, "id: 42\ndata: two\ndata: lines\n\n"));
    free(text);
    free(wire_read_until(fd, ": \n\n"));
    free(wire_read_until(fd, ": \n\n"));
    close(fd);
    wait_for(closed_calls == 1);
}

static void flood(struct http_host *h)
{
    (void)h;
    char data[1024];
    memset(data, 'x', sizeof data - 1);
    data[sizeof data - 1] = '\0';
    for (int i = 0; i < 10000; i++) {
        if (stream_event(stream, NULL, NULL, data) < 0) {
            assert_int_equal(stream_event(stream, NULL, NULL, "never"), -1);
            return;
        }
        events_sent++;
    }
    fail_msg("a client that reads nothing was sent everything");
}

/* One that does not read is cut off, and told when it does. */
static void test_slow_events(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "GET /events HTTP/1.1");
    free(wire_read_until(fd, "retry: 2000\n\n"));
    http_host_do(h, flood);
    assert_true(events_sent > 10);
    AUTO_FREE char *text = wire_read_until(fd, "\r\n0\r\n\r\n");
    assert_non_null(strstr(text, ": too slow, events were dropped; reconnect with "));
    assert_null(strstr(text, "never"));
    close(fd);
    wait_for(closed_calls == 1);
}

/* One that never reads again is given up after the idle time. */
static void test_stuck(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "GET /pull HTTP/1.1");
    wait_for(closed_calls == 1);
    assert_true(pulled < PULL_BYTES);
    close(fd);
}

static void send_large(struct http_host *h)
{
    (void)h;
    size_t n = BUFFER_BYTES * 8;
    AUTO_FREE char *data = xmalloc(n + 1);
    memset(data, 'y', n);
    data[n] = '\0';
    assert_int_equal(stream_event(stream, NULL, NULL, data), 0);
}

/* One event that is larger than the buffer goes through all the same. */
static void test_large_event(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "GET /events HTTP/1.1");
    free(wire_read_until(fd, "retry: 2000\n\n"));
    free(wire_read_until(fd, ": \n\n"));
    http_host_do(h, send_large);
    AUTO_FREE char *text = wire_read_until(fd, "y\n\n");
    assert_true(strlen(text) > BUFFER_BYTES * 8);
    close(fd);
    wait_for(closed_calls == 1);
}

static void test_hang_up(void **state)
{
    struct http_host *h = *state;
    for (int i = 0; i < 4; i++) {
        const char *line = i % 2 ? "GET /events HTTP/1.1" : "GET /follow HTTP/1.1";
        int fd = open_stream(h, i / 2, line);
        free(wire_read_until(fd, "\r\n\r\n"));
        assert_true(stream != NULL);
        close(fd);
        wait_for(closed_calls == i + 1);
    }
}

static void test_head(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, false, "HEAD /events HTTP/1.1");
    AUTO_FREE char *all = wire_read_end(fd);
    assert_non_null(strstr(all, "text/event-stream"));
    assert_string_equal(strstr(all, "\r\n\r\n"), "\r\n\r\n");
    close(fd);
    wait_for(closed_calls == 1);
}

static void open_deferred(struct http_host *h)
{
    (void)h;
    stream = reply_events(deferred, &quiet, NULL);
    stream_event(stream, "1", NULL, "late");
}

static void test_deferred(void **state)
{
    struct http_host *h = *state;
    int fd = open_stream(h, true, "GET /deferred HTTP/1.1");
    wait_for(deferred);
    http_host_do(h, open_deferred);
    free(wire_read_until(fd, "retry: 2000\n\nid: 1\ndata: late\n\n"));
    close(fd);
    wait_for(closed_calls == 1);
}

static void broadcast(struct http_host *h)
{
    (void)h;
    stream_event(stream, "7", "tick", "x");
}

/* An event reaches its client while hundreds of others wait. */
static void test_many(void **state)
{
    struct http_host *h = *state;
    enum { MANY = 300 };
    int fds[MANY];
    for (int i = 0; i < MANY; i++) {
        fds[i] = open_stream(h, false, "GET /events HTTP/1.1");
        free(wire_read_until(fds[i], "retry: 2000\n\n"));
        http_host_do(h, broadcast);
        free(wire_read_until(fds[i], "data: x\n\n"));
    }
    for (int i = 0; i < MANY; i++)
        close(fds[i]);
    wait_for(closed_calls == MANY);
}

/* The server stops: events end with a word, bytes break off. */
static void test_stop(void **state)
{
    struct http_host h;
    (void)state;
    http_host_start(&h, (struct http_config){.routes = routes});
    closed_calls = 0;
    int a = open_stream(&h, false, "GET /events HTTP/1.1");
    int b = open_stream(&h, false, "GET /follow HTTP/1.1");
    free(wire_read_until(a, "retry: 2000\n\n"));
    free(wire_read_until(b, "\r\n\r\n"));
    http_host_stop(&h, 3600 * USEC_PER_SEC);
    assert_int_equal(closed_calls, 2);
    AUTO_FREE char *last = wire_read_end(a), *rest = wire_read_end(b);
    assert_non_null(strstr(last, ": the server is stopping\n\n\r\n0\r\n\r\n"));
    assert_string_equal(rest, "");
    close(a);
    close(b);
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, http_host_tear_down)

static const struct CMUnitTest tests[] = {
    HOSTED(test_bytes),    HOSTED(test_pull),    HOSTED(test_events), HOSTED(test_slow_events),
    HOSTED(test_stuck),    HOSTED(test_hang_up), HOSTED(test_head),   HOSTED(test_large_event),
    HOSTED(test_deferred), HOSTED(test_many),    TEST(test_stop),
};

int main(void)
{
    return RUN(tests);
}
