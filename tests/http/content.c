/* Tests of replies that are sent in part: ranges, sources that shrink, and sources that fail. */
#include <stdatomic.h>
#include <unistd.h>

#include "http/content.h"
#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

#define SOURCE_BYTES (8u << 20)

static atomic_int source_done;

/* Digits. Reading fails at `fails` and finds nothing more at `ends`. */
struct digits {
    uint64_t fails, ends;
};

static ssize_t read_digits(void *ctx, uint64_t at, char *buf, size_t n)
{
    const struct digits *d = ctx;
    if (at >= d->fails)
        return -1;
    if (at >= d->ends)
        return 0;
    n = n < d->ends - at ? n : d->ends - at;
    for (size_t i = 0; i < n; i++)
        buf[i] = (char)('0' + (at + i) % 10);
    return (ssize_t)n;
}

static void end_digits(void *ctx)
{
    free(ctx);
    source_done++;
}

static uint64_t number(const struct request *q, const char *name, uint64_t fallback)
{
    const char *text = request_query(q, name);
    return text ? strtoull(text, NULL, 10) : fallback;
}

static void source(const struct request *q, struct reply *r, void *ctx)
{
    struct digits *d = xmalloc(sizeof *d);
    (void)ctx;
    *d = (struct digits){number(q, "fails", UINT64_MAX), number(q, "ends", UINT64_MAX)};
    struct reply_source s = {number(q, "size", SOURCE_BYTES), read_digits, end_digits, d};
    reply_source(r, "text/plain", &s);
}

static const struct route routes[] = {
    {"GET", "/source", source, "source", false},
    {0},
};

static int start(void **state)
{
    struct http_host *h = xcalloc(1, sizeof *h);
    source_done = 0;
    http_host_start(h, (struct http_config){.routes = routes});
    *state = h;
    return 0;
}

static void assert_range(struct http_host *h, const char *range, int status, const char *part,
                         const char *body)
{
    char line[128];
    snprintf(line, sizeof line, "Range: %s\r\n", range);
    struct wire_reply r = wire_ask(h, "GET /source?size=10000", line, NULL);
    assert_int_equal(r.status, status);
    if (part)
        assert_header(&r, "Content-Range", part);
    if (body)
        assert_string_equal(r.body.at, body);
    else if (status == 200)
        assert_int_equal(r.body.n, 10000);
    wire_reply_done(&r);
}

static void test_ranges(void **state)
{
    struct http_host *h = *state;
    assert_range(h, "bytes=0-0", 206, "bytes 0-0/10000", "0");
    assert_range(h, "bytes=5-9", 206, "bytes 5-9/10000", "56789");
    assert_range(h, "bytes=9998-", 206, "bytes 9998-9999/10000", "89");
    assert_range(h, "bytes=9998-20000", 206, "bytes 9998-9999/10000", "89");
    assert_range(h, "bytes=-3", 206, "bytes 9997-9999/10000", "789");
    assert_range(h, "bytes=-20000", 206, "bytes 0-9999/10000", NULL);
    assert_range(h, "bytes=10000-", 416, "bytes */10000", NULL);
    assert_range(h, "bytes=-0", 416, "bytes */10000", NULL);
    assert_range(h, "bytes=0-1,5-6", 200, NULL, NULL);
    assert_range(h, "lines=0-1", 200, NULL, NULL);
    assert_range(h, "bytes=2-1", 200, NULL, NULL);
    struct wire_reply r = wire_ask(h, "HEAD /source?size=10000", "", NULL);
    assert_header(&r, "Content-Length", "10000");
    assert_header(&r, "Accept-Ranges", "bytes");
    wire_reply_done(&r);
    r = wire_ask(h, "GET /source?size=10000", "Range: bytes=0-0\r\nIf-Range: \"b\"\r\n", NULL);
    assert_int_equal(r.status, 200);
    wire_reply_done(&r);
    r = wire_ask(h, "GET /source?size=0", "", NULL);
    assert_int_equal(r.status, 200);
    assert_header(&r, "Content-Length", "0");
    wire_reply_done(&r);
}

/* A source that has become shorter since: the client must notice. */
static void test_shrunk_source(void **state)
{
    int fd = wire_connect(*state);
    wire_send(fd, "GET /source?size=20000&ends=10000 HTTP/1.1\r\nHost: x\r\n\r\n");
    AUTO_FREE char *all = wire_read_end(fd);
    assert_non_null(strstr(all, "Content-Length: 20000"));
    const char *body = strstr(all, "\r\n\r\n");
    assert_non_null(body);
    assert_true(strlen(body + 4) == 10000);
    close(fd);
}

static void ask_source(struct http_host *h, const char *line, const char *headers, int status)
{
    struct wire_reply r = wire_ask(h, line, headers, NULL);
    assert_int_equal(r.status, status);
    wire_reply_done(&r);
}

/* It is told once that it is over, however the reply went. */
static void test_source_is_done(void **state)
{
    struct http_host *h = *state;
    ask_source(h, "GET /source", "", 200);
    ask_source(h, "HEAD /source", "", 200);
    ask_source(h, "GET /source", "Range: bytes=5-6\r\n", 206);
    ask_source(h, "GET /source", "Range: bytes=99999999-\r\n", 416);
    wait_for(source_done == 4);
    /* A client that reads nothing and leaves. */
    int fd = wire_connect(h);
    wire_send(fd, "GET /source HTTP/1.1\r\nHost: x\r\n\r\n");
    free(wire_read_until(fd, "\r\n\r\n"));
    assert_int_equal(source_done, 4);
    close(fd);
    wait_for(source_done == 5);
}

/* What cannot be read breaks the reply off, at once or in its middle. */
static void test_source_fails(void **state)
{
    struct http_host *h = *state;
    static const char *const lines[] = {"GET /source?fails=0", "GET /source?fails=1000000"};
    for (int i = 0; i < 2; i++) {
        char text[128];
        int fd = wire_connect(h);
        snprintf(text, sizeof text, "%s HTTP/1.1\r\nHost: x\r\n\r\n", lines[i]);
        wire_send(fd, text);
        AUTO_FREE char *all = wire_read_end(fd);
        assert_true(strlen(all) < SOURCE_BYTES);
        close(fd);
        wait_for(source_done == i + 1);
    }
}

#define HOSTED(f) cmocka_unit_test_setup_teardown(f, start, http_host_tear_down)

static const struct CMUnitTest tests[] = {
    HOSTED(test_ranges),
    HOSTED(test_shrunk_source),
    HOSTED(test_source_is_done),
    HOSTED(test_source_fails),
};

int main(void)
{
    return RUN(tests);
}
