/* Tests of clients that mean harm or know no better: heads that are too long,
 * requests that are none, noise, and those that never get done. */
#include <sys/socket.h>
#include <unistd.h>

#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

static void ok(const struct request *q, struct reply *r, void *ctx)
{
    (void)q;
    (void)ctx;
    reply_text(r, 200, "text/plain", "ok");
}

static const struct route routes[] = {
    {"GET", "/jobs", ok, "list", false},
    {"POST", "/jobs", ok, "submit", false},
    {0},
};

static int start(void **state)
{
    struct http_host *h = xcalloc(1, sizeof *h);
    struct http_config config = {
        .routes = routes,
        .limits = {.body = 100000, .header = 8192, .request_s = 1, .idle_s = 2},
    };
    http_host_start(h, config);
    *state = h;
    return 0;
}

static void assert_served(struct http_host *h)
{
    struct wire_reply r = wire_ask(h, "GET /jobs", "", NULL);
    assert_int_equal(r.status, 200);
    wire_reply_done(&r);
}

static void test_head_limit(void **state)
{
    struct http_host *h = *state;
    char *header = xmalloc(200000);
    for (size_t n = 4000; n < 200000; n += n / 2) {
        snprintf(header, 200000, "X: %0*d\r\n", (int)n - 6, 0);
        struct wire_reply r = wire_ask(h, "GET /jobs", header, NULL);
        assert_int_equal(r.status, n < 8000 ? 200 : 431);
        wire_reply_done(&r);
        char *line = xmalloc(n + 10);
        snprintf(line, n + 10, "GET /jobs?%0*d", (int)n - 6, 0);
        r = wire_ask(h, line, "", NULL);
        assert_true(n < 8000 ? r.status == 200 : r.status == 431 || r.status == 414);
        wire_reply_done(&r);
        free(line);
    }
    free(header);
}

static void assert_refused(struct http_host *h, const char *request, int status)
{
    int fd = wire_connect(h);
    wire_send(fd, request);
    struct wire_reply r = wire_read_reply(fd, false);
    if (r.status != status)
        fail_msg("%s: %d", request, r.status);
    wire_reply_done(&r);
    close(fd);
}

static void test_malformed(void **state)
{
    struct http_host *h = *state;
    static const struct {
        int status;
        const char *request;
    } bad[] = {
        {400, "GET /jobs HTTP/1.1\r\n\r\n"},
        {505, "GET /jobs HTTP/3.0\r\nHost: x\r\n\r\n"},
        {400, "GET /jobs FTP/1.1\r\nHost: x\r\n\r\n"},
        {400, "GET /jobs all HTTP/1.1\r\nHost: x\r\n\r\n"},
        {400, "GET /jobs HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n"},
        {400, "GET /jobs HTTP/1.1\r\nHost: x\r\nX : y\r\n\r\n"},
        {400, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n"},
        {400, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"},
        {413, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n"},
        {501, "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\nabc"},
        {400, "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n"
              "Content-Length: 3\r\n\r\nabc"},
        {400, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n"
              "Content-Length: 4\r\n\r\nabc"},
        {400, "POST /jobs HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"},
    };
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_refused(h, bad[i].request, bad[i].status);
}

/* Noise, cut off requests: the server answers or closes, and goes on. */
static void test_noise(void **state)
{
    struct http_host *h = *state;
    uint64_t x = 88172645463325252u;
    for (int i = 0; i < 300; i++) {
        unsigned char noise[512];
        for (size_t k = 0; k < sizeof noise; k++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            noise[k] = (unsigned char)x;
        }
        int fd = wire_connect(h);
        if (i % 3 == 0)
            wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\n");
        if (i % 3 == 1)
            wire_send(fd, "POST /jobs HTTP/1.1\r\nHost: x\r\nContent-Length: 600\r\n\r\n");
        send(fd, noise, sizeof noise, MSG_NOSIGNAL);
        close(fd);
    }
    assert_served(h);
}

/* One who sends a byte now and then does not keep the server for ever. */
static void test_slow_request(void **state)
{
    int fd = wire_connect(*state);
    wire_send(fd, "POST /jobs HTTP/1.1\r\n");
    bool closed = false;
    for (int i = 0; i < 60 && !closed; i++) {
        usleep(100000);
        closed = send(fd, "x", 1, MSG_NOSIGNAL) < 0;
    }
    assert_true(closed);
    char *all = wire_read_end(fd);
    assert_non_null(strstr(all, "408 Request Timeout"));
    free(all);
    close(fd);
}

static void test_slow_request_line(void **state)
{
    int fd = wire_connect(*state);
    bool closed = false;
    for (int i = 0; i < 100 && !closed; i++) {
        closed = send(fd, "x", 1, MSG_NOSIGNAL) < 0;
        usleep(100000);
    }
    assert_true(closed);
    close(fd);
}

static void test_silence(void **state)
{
    int fd = wire_connect(*state);
    assert_true(wire_closed(fd));
    close(fd);
    fd = wire_connect(*state);
    wire_send(fd, "GET /jobs HTTP/1.1\r\nHost: x\r\n\r\n");
    free(wire_read_until(fd, "\r\n\r\nok"));
    assert_true(wire_closed(fd));
    close(fd);
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, http_host_tear_down)

static const struct CMUnitTest tests[] = {
    HOSTED(test_head_limit),   HOSTED(test_malformed),         HOSTED(test_noise),
    HOSTED(test_slow_request), HOSTED(test_slow_request_line), HOSTED(test_silence),
};

int main(void)
{
    return RUN(tests);
}
