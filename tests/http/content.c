/* Tests of replies that are given in part or not at all: ranges, tags, files that
 * shrink, and sources that fail. */
#include <stdatomic.h>
#include <unistd.h>

#include "http/content.h"
#include "http/range.h"
#include "http/reply.h"
#include "http/request.h"
#include "support/http_host.h"
#include "support/test.h"

#define PAGE "<html><script>1</script></html>"

static void constant(const struct request *q, struct reply *r, void *ctx)
{
    char etag[HTTP_ETAG_SIZE];
    (void)q;
    (void)ctx;
    http_etag(PAGE, sizeof PAGE - 1, etag);
    reply_static(r, "text/css", PAGE, sizeof PAGE - 1, etag);
}

/* A file with the digits 0-9 a thousand times; ?size= says that it is larger. */
static void file(const struct request *q, struct reply *r, void *ctx)
{
    struct err err;
    int64_t size = 10000;
    (void)ctx;
    char path[] = "/tmp/trainyard-http-file-XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    for (int i = 0; i < 1000; i++)
        if (write(fd, "0123456789", 10) != 10)
            abort();
    if (request_query_int(q, "size", 0, INT64_MAX, &size, &err) < 0)
        abort();
    reply_file(r, "text/plain", fd, (uint64_t)size, request_query(q, "etag"));
}

/* ---- a source of any kind -------------------------------------------------- */

#define SOURCE_BYTES (8u << 20)

static atomic_int source_done;

/* Digits up to ?fails=, where reading fails. */
static ssize_t read_source(void *ctx, uint64_t at, char *buf, size_t n)
{
    const int64_t *fails = ctx;
    if (at >= (uint64_t)*fails)
        return -1;
    for (size_t i = 0; i < n; i++)
        buf[i] = (char)('0' + (at + i) % 10);
    return (ssize_t)n;
}

static void end_source(void *ctx)
{
    free(ctx);
    source_done++;
}

static void source(const struct request *q, struct reply *r, void *ctx)
{
    struct err err;
    int64_t *fails = xmalloc(sizeof *fails);
    *fails = INT64_MAX;
    (void)ctx;
    if (request_query_int(q, "fails", 0, INT64_MAX, fails, &err) < 0)
        abort();
    struct reply_source s = {SOURCE_BYTES, read_source, end_source, fails};
    reply_source(r, "text/plain", &s, "\"s\"");
}

static const struct route routes[] = {
    {"GET", "/constant", constant, "constant", false},
    {"GET", "/file", file, "file", false},
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

static void test_etag(void **state)
{
    char etag[HTTP_ETAG_SIZE], line[128];
    http_etag(PAGE, sizeof PAGE - 1, etag);
    struct wire_reply r = wire_ask(*state, "GET /constant", "", NULL);
    assert_int_equal(r.status, 200);
    assert_header(&r, "ETag", etag);
    assert_header(&r, "Cache-Control", "no-cache");
    assert_string_equal(r.body.at, PAGE);
    wire_reply_done(&r);
    snprintf(line, sizeof line, "If-None-Match: \"x\", W/%s\r\n", etag);
    r = wire_ask(*state, "GET /constant", line, NULL);
    assert_int_equal(r.status, 304);
    assert_header(&r, "ETag", etag);
    wire_reply_done(&r);
    r = wire_ask(*state, "GET /constant", "Range: bytes=1-4\r\nIf-None-Match: \"x\"\r\n", NULL);
    assert_int_equal(r.status, 206);
    assert_string_equal(r.body.at, "html");
    wire_reply_done(&r);
}

static void assert_range(struct http_host *h, const char *range, int status, const char *part,
                         const char *body)
{
    char line[128];
    snprintf(line, sizeof line, "Range: %s\r\n", range);
    struct wire_reply r = wire_ask(h, "GET /file", line, NULL);
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
    struct wire_reply r = wire_ask(h, "HEAD /file", "", NULL);
    assert_header(&r, "Content-Length", "10000");
    assert_header(&r, "Accept-Ranges", "bytes");
    wire_reply_done(&r);
    const char *other = "Range: bytes=0-0\r\nIf-Range: \"b\"\r\n";
    r = wire_ask(h, "GET /file?etag=%22a%22", other, NULL);
    assert_int_equal(r.status, 200);
    wire_reply_done(&r);
    r = wire_ask(h, "GET /file?etag=%22b%22", other, NULL);
    assert_int_equal(r.status, 206);
    wire_reply_done(&r);
    r = wire_ask(h, "GET /file?size=0", "", NULL);
    assert_int_equal(r.status, 200);
    assert_header(&r, "Content-Length", "0");
    wire_reply_done(&r);
}

/* A file that has become shorter since: the client must notice. */
static void test_shrunk_file(void **state)
{
    int fd = wire_connect(*state);
    wire_send(fd, "GET /file?size=20000 HTTP/1.1\r\nHost: x\r\n\r\n");
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
    ask_source(h, "GET /source", "If-None-Match: \"s\"\r\n", 304);
    wait_for(source_done == 5);
    /* A client that reads nothing and leaves. */
    int fd = wire_connect(h);
    wire_send(fd, "GET /source HTTP/1.1\r\nHost: x\r\n\r\n");
    free(wire_read_until(fd, "\r\n\r\n"));
    assert_int_equal(source_done, 5);
    close(fd);
    wait_for(source_done == 6);
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
    HOSTED(test_etag),           HOSTED(test_ranges),       HOSTED(test_shrunk_file),
    HOSTED(test_source_is_done), HOSTED(test_source_fails),
};

int main(void)
{
    return RUN(tests);
}
